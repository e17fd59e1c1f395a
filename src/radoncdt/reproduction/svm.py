"""The linear support vector machine of Tables 3 and 4: squared hinge, C = 1, no intercept."""

import numpy as np

from radoncdt._typing import Floats

MOST_STEPS = 1000
ROUNDING = 64 * np.finfo(np.float64).eps

LOOSE_TOLERANCE = 0.1
"""LIBLINEAR's own default."""


def linear_svm(features: Floats, signs: Floats, *, c: float = 1.0) -> Floats:
    """The weights w that minimise ½‖w‖² + c Σ_i max(0, 1 − y_i⟨w, x_i⟩)².

    At the minimum w = Σ_i β_i x_i with β_i = 2c y_i max(0, 1 − y_i⟨w, x_i⟩). If it were known which samples are closer
    than 1, the active ones, their β would solve (K + I/2c) β = y, with K the inner products, all other β being 0.
    Newton's method solves this for the samples that are active now, and goes there, or as far on the way as the
    function falls. It reaches the minimum, up to rounding, unless the features are so large that I/2c is nothing beside
    K. scikit-learn's LinearSVC minimises the same function, but to a tolerance, and it does not profit from samples
    being fewer than features, as they are here.

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
    from scipy.optimize import brentq

    kernel = features @ features.T
    beta, scores = np.zeros(len(signs)), np.zeros(len(signs))  # the scores ⟨w, x_i⟩
    tolerance = ROUNDING * (1 + 2 * c * np.abs(kernel).sum(axis=1).max())  # of β: what rounding of the scores leaves
    for _ in range(MOST_STEPS):
        active = np.flatnonzero(signs * scores < 1)
        target = np.zeros(len(signs))
        ridge = kernel[np.ix_(active, active)] + np.eye(active.size) / (2 * c)
        target[active] = solve(ridge, signs[active], assume_a="pos")
        step = target - beta
        change = kernel @ step

        def slope(t: float, start: tuple[Floats, ...] = (beta, scores, step, change)) -> float:
            """Of the function, on the way."""
            beta, scores, step, change = start
            short = np.maximum(1 - signs * (scores + t * change), 0)
            return float(change @ (beta + t * step - 2 * c * signs * short))

        share = brentq(slope, 0, 1) if slope(0) < 0 < slope(1) else 1.0
        beta = target if share == 1 else beta + share * step
        scores = kernel @ beta  # anew, for what is added up keeps the rounding of all that was large on the way
        error = np.abs(beta - 2 * c * signs * np.maximum(1 - signs * scores, 0)).max()
        if error <= tolerance * np.abs(beta).max():
            return features.T @ beta
    raise RuntimeError(f"the support vector machine did not converge in {MOST_STEPS} steps")


def loose_svm(features: Floats, signs: Floats) -> Floats:
    """What LIBLINEAR's dual coordinate descent takes for the same weights, if it may stop early."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=1.0, loss="squared_hinge", dual=True, fit_intercept=False, tol=LOOSE_TOLERANCE, random_state=0)
    return np.asarray(model.fit(features, signs).coef_[0])
