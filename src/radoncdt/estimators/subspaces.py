"""The nearest subspace classifier, which Rohde's group uses with R-CDTs, for any features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from radoncdt import _validation
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError

__all__ = ["NearestSubspaceClassifier"]


class NearestSubspaceClassifier(ClassifierMixin, BaseEstimator):
    """Classify feature vectors by the nearest subspace that a class spans.

    The residual of a feature vector x for class k is ``‖(x − m_k) − B_kᵀB_k (x − m_k)‖``, its Euclidean distance to the
    subspace that the orthonormal rows of B_k span; m_k is 0, or the mean of the class if `center` is set. The class
    with the smallest residual is predicted. The R-CDTs of the deformed images of a class often fill a convex set, which
    a linear subspace contains. A few images per class span it.

    Parameters
    ----------
    n_components : int, float or None, default None
        Largest dimension of a subspace, which is spanned by the leading singular vectors of the features of a class. A
        float between 0 and 1 keeps as many vectors as hold this share of the squared norm. None keeps all.
    center : bool, default False
        Whether subspaces pass through the mean of the class instead of the origin.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The classes, sorted.
    bases_ : list of arrays (dimension, n_features)
        Orthonormal rows, one array per class.
    means_ : float64 array (n_classes, n_features)
        The means of the classes; zeros unless `center` is set.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array (n_features,)
        Names of the features; set only if the columns of `X` have names.

    See Also
    --------
    RadonCDT : Features for this classifier.
    NormalizedRadonCDT : Affine-invariant features for this classifier.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> shapes = [np.ones((40, 40)), np.tri(60)]
    >>> model = make_pipeline(NormalizedRadonCDT(), NearestSubspaceClassifier()).fit(shapes, ["square", "triangle"])
    >>> model.predict([np.tri(50)[::-1]])
    array(['triangle'], dtype='<U8')
    """

    def __init__(self, n_components: int | float | None = None, *, center: bool = False) -> None:
        self.n_components = n_components
        self.center = center

    def fit(self, X: Any, y: Any) -> NearestSubspaceClassifier:  # noqa: N803
        """Compute the subspaces.

        Parameters
        ----------
        X : array (n, n_features)
            Feature vectors, one per row.
        y : array (n,)
            The class of every row.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        TypeError
            If a parameter has the wrong type.
        ValueError
            If a parameter has an invalid value, or `X` and `y` do not fit.
        """
        share = self._share()
        _validation.check_instance(self.center, "center", bool)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, members = np.unique(y, return_inverse=True)
        self.bases_, means = [], []
        for k in range(len(self.classes_)):
            some = X[members == k]
            means.append(some.mean(axis=0) if self.center else np.zeros(X.shape[1]))
            self.bases_.append(self._basis(some - means[-1], share))
        self.means_ = np.array(means)
        return self

    def _share(self) -> float:
        """The share of the squared norm to keep; 1 if the dimension is given as a count or not limited."""
        if self.n_components is None:
            return 1.0
        if isinstance(self.n_components, (float, np.floating)):
            if not 0 < self.n_components < 1:
                raise ArgumentValueError(
                    "n_components", f"must be between 0 and 1 if it is a float, got {self.n_components!r}"
                )
            return float(self.n_components)
        _validation.check_count(self.n_components, "n_components", 1)
        return 1.0

    def _basis(self, vectors: Floats, share: float) -> Floats:
        _, sizes, basis = np.linalg.svd(vectors, full_matrices=False)
        rank = int((sizes > sizes[0] * max(vectors.shape) * np.finfo(float).eps).sum()) if sizes[0] > 0 else 0
        squares = np.cumsum(sizes**2)
        if share < 1:
            rank = min(rank, 1 + int(np.searchsorted(squares, share * squares[-1])))
        elif self.n_components is not None:
            rank = min(rank, int(self.n_components))
        return basis[:rank]

    def residuals(self, X: Any) -> Floats:  # noqa: N803
        """Compute the distance of every feature vector to the subspace of every class.

        Parameters
        ----------
        X : array (n, n_features)
            Feature vectors, one per row.

        Returns
        -------
        float64 array (n, n_classes)
            The distances, in the order of `classes_`.

        Raises
        ------
        ValueError
            If `X` has the wrong shape or values that are not finite.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        result = np.empty((len(X), len(self.classes_)))
        for k, (basis, mean) in enumerate(zip(self.bases_, self.means_)):
            vectors = X - mean
            result[:, k] = np.linalg.norm(vectors - vectors @ basis.T @ basis, axis=1)
        return result

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Compute scores that are larger for nearer classes.

        Parameters
        ----------
        X : array (n, n_features)
            Feature vectors, one per row.

        Returns
        -------
        float64 array (n, n_classes), or (n,) for two classes
            The negative residuals. For two classes, as scikit-learn expects, it is the residual of the first class
            minus that of the second one.

        Raises
        ------
        ValueError
            If `X` has the wrong shape or values that are not finite.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        """
        residuals = self.residuals(X)
        return residuals[:, 0] - residuals[:, 1] if len(self.classes_) == 2 else -residuals

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict the class of the nearest subspace.

        Parameters
        ----------
        X : array (n, n_features)
            Feature vectors, one per row.

        Returns
        -------
        array (n,)
            The classes; ties go to the first in `classes_`.

        Raises
        ------
        ValueError
            If `X` has the wrong shape or values that are not finite.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        """
        nearest = self.residuals(X).argmin(axis=1)
        return self.classes_[nearest]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # if there are more training vectors than features
        return tags
