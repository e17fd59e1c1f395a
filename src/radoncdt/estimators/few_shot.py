"""A classifier for a few examples per class: register, bend, compare, vote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radoncdt import _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.estimators.transformers import ImageEstimator
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.descriptors import Descriptors, describe_batch
from radoncdt.matching.framed import Frame, Framed
from radoncdt.matching.frames import make_canvases
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS, MapPrior, read_prior
from radoncdt.matching.registration import Registration
from radoncdt.matching.settings import ROBUST, DescriptorSettings
from radoncdt.matching.votes import DEFAULT_BETA, Decisions, Examples, Voters
from radoncdt.measures import Batch

__all__ = ["Evidence", "FewShotClassifier"]

_MOMENTS = ("auto", "exact", "robust")
_MAX_HELD_OUT = 150  # training images that are classified by the others, at most, to choose the parameters
_MIN_HELD_OUT = 4  # with fewer of them nothing is chosen
_QUERIES_PER_CHUNK = 256  # images whose distances to all examples are kept at a time
_MIN_GAIN = 2.0  # standard errors by which reflections or robust moments must be better than the simplest choice
_CERTAIN = 0.9  # probability of a class from which on the moments that come second need not be consulted
_MARGIN_WEIGHT = 0.1  # weight of the margin beside the accuracy in the choice of a prior

# Values that are tried, from the simplest to the others.
_ASPECTS, _ROTATIONS = (0.0, 0.002, 0.006, 0.02), (0.0, 0.003, 0.01, 0.03)
_BENT_ASPECTS, _BENT_ROTATIONS = (0.0, 0.1, 0.3, 1.0), (0.0, 0.1, 0.3, 1.0)
_BETAS = (DEFAULT_BETA, 2.0, 3.5, 8.0)
_FOURIERS = (0.2, 0.0, 0.5)


class Evidence(NamedTuple):
    """An example that contributed to the decision about an image.

    `radoncdt.FewShotClassifier.explain` and `radoncdt.FewShotClassifier.predict_with_evidence` return such examples.

    Parameters
    ----------
    example : int
        The index of the example among the images of `fit`.
    label : object
        The label of the example.
    share : float
        The share of its votes among all votes about the image. It has two votes if exact and robust moments are used.
    distance : float
        The distortion distance of the image and the example, for the larger vote: that of `distortion_distances`.
    registration : Registration
        The map from the image to the example. Its `distance` is that of the descriptors: the distance of
        `affine_distances`.

    See Also
    --------
    radoncdt.FewShotClassifier : The classifier.

    Examples
    --------
    >>> model = FewShotClassifier().fit([np.ones((40, 40)), np.tri(60)], ["square", "triangle"])
    >>> evidence = model.explain(np.tri(30))[0]
    >>> evidence.example, evidence.label.item(), evidence.registration.credible
    (1, 'triangle', True)
    """

    example: int
    label: Any
    share: float
    distance: float
    registration: Registration


_Option = tuple[Descriptors, bool, MapPrior]
"""Descriptors of the examples, whether images may be mirrored, and a prior."""


class FewShotClassifier(ClassifierMixin, ImageEstimator):
    """Classify images from a few examples per class, even if they were moved and slightly bent.

    An image is registered with all examples by their descriptors. On frames of the whitened plane it is then compared
    with the nearest examples of the nearest classes, pixel by pixel, and small distortions are allowed (the image
    distortion model [1]_). All these examples vote for their classes, with votes proportional to exp(−beta · cost).

    Parameters
    ----------
    prior : "auto", "any", "upright", "photograph", MapPrior, or (aspect, rotation), default "auto"
        Which maps from an image to an example are likely. "auto" chooses the penalties of maps by leave-one-out on the
        training images of classes that have at least two; of more than 150, a fixed random choice. With fewer than four
        such images it means "any". With one example per class, choose "upright" for characters and symbols that are
        hardly rotated, and "photograph" if they may be rotated but hardly stretched.

        "any": no map has a penalty. "upright": rotating, stretching and mirroring have penalties. "photograph":
        rotating is free, and stretching has a penalty. Two numbers are the penalties of the squared logarithm of the
        ratio of the two scales, and of 1 − cos ψ for a rotation by ψ; `MapPrior` has further penalties.
    reflections : bool or "auto", default "auto"
        Whether an image may be mirrored. "auto" chooses in the same way; if nothing can be chosen, it means False.
    moments : {"auto", "exact", "robust"}, default "auto"
        Mean and covariance of the descriptors. "exact": those of the measure. "robust": location and scatter of a
        Student t distribution fitted to the measure, which specks hardly change; the outermost levels are also omitted.
        "auto" means both: the moments that do better by leave-one-out come first, and images that they leave uncertain
        are compared with the other ones, too. With one example per class, every image is compared with both.
    n_angles : int, default 64
        Number of directions of the descriptors on the half circle, from 1 to 65,536. Rotations are compared in steps of
        180°/n_angles.
    n_levels : int, default 64
        Number of levels t = (k + ½)/n_levels of the quantile functions, at least 2.
    frame_size : int, default 28
        Number of points along each side of the frame on which images are compared, from 8 to 256. Complex shapes need
        more than 28, such as 56.
    window : int, optional
        Largest displacement of a part of the image, in points of the frame, from 0 to 8. By default it is 2, or 3 for
        frames of more than 28 points.
    n_candidate_classes : int, default 10
        Number of classes whose examples are compared with an image pixel by pixel.
    n_examples : int, default 3
        Number of examples of each of these classes.
    image_shape : (int, int), optional
        Shape (H, W) of images that are given as the rows of a table.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels, sorted.
    n_held_out_ : int
        The number of examples that were classified by the others to choose parameters; 0 if nothing could be chosen.
    prior_ : MapPrior
        The prior that was given or chosen.
    reflections_ : bool
        Whether images may be mirrored, as given or chosen.
    moments_ : str
        The moments that were given, or those that come first.
    beta_ : float
        The votes are proportional to exp(−beta · cost).
    fourier_ : float
        The cost of an example is the distortion distance, plus the penalty of the map, plus this multiple of the
        logarithm of the distance of the Fourier magnitudes along the circle, which maps do not change.
    n_features_in_ : int
        Number of columns of the table; set only for tables.
    feature_names_in_ : array (n_features,)
        Names of the columns; set only for tables whose columns have names.

    See Also
    --------
    AffineNeighborsClassifier : A vote of the nearest neighbours, without distortions.
    distortion_distances : The distances of images that are registered and may bend.
    NormalizedRadonCDT : Features for other classifiers.

    References
    ----------
    .. [1] D. Keysers, T. Deselaers, C. Gollan, H. Ney, "Deformation models for image recognition", IEEE Transactions on
           Pattern Analysis and Machine Intelligence 29, 2007.

    Examples
    --------
    >>> square, triangle = np.pad(np.ones((40, 40)), 30), np.tri(60)
    >>> moved = push_forward(triangle, [[0.2, -0.9], [1.1, 0.4]], [3, 5], shape=(120, 120))
    >>> FewShotClassifier().fit([square, triangle], ["square", "triangle"]).predict([moved])
    array(['triangle'], dtype='<U8')
    """

    def __init__(
        self,
        *,
        prior: Any = "auto",
        reflections: bool | str = "auto",
        moments: str = "auto",
        n_angles: int = 64,
        n_levels: int = 64,
        frame_size: int = 28,
        window: int | None = None,
        n_candidate_classes: int = 10,
        n_examples: int = 3,
        image_shape: tuple[int, int] | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.prior = prior
        self.reflections = reflections
        self.moments = moments
        self.n_angles = n_angles
        self.n_levels = n_levels
        self.frame_size = frame_size
        self.window = window
        self.n_candidate_classes = n_candidate_classes
        self.n_examples = n_examples
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> FewShotClassifier:  # noqa: N803
        """Describe the examples, and choose the parameters that are "auto".

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
            Measures of any sizes: bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`.
        y : array (n,)
            The labels, at least two different ones.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        TypeError
            If a parameter has the wrong type, or `X` does not hold measures.
        ValueError
            If a parameter has an invalid value, if a measure has negative mass, no mass or values that are not finite,
            or if `X` and `y` do not fit.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
        """
        frame = self._check_parameters()
        batch = read_measures(self._read(X, reset=True))
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(np.tile(labels, 2))  # twice, since it warns of classes with one example
        if len(labels) != len(batch):
            raise ArgumentValueError("y", f"must have one label per image, {len(batch)}, got {len(labels)}")
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ArgumentValueError("y", f"must have at least two classes, got one class, {classes.tolist()[0]!r}")
        held_out = _hold_out(codes)
        described, reflections, prior = self._choose_registration(self._describe(batch), codes, held_out)
        views = []
        for descriptors in described:
            framed = Framed(descriptors, make_canvases(batch, descriptors, frame.side, self.n_jobs), frame)
            views.append(Examples(framed, codes, self.n_candidate_classes, self.n_examples, reflections, prior))
        self._voters = self._choose_votes(tuple(views), held_out)
        self.classes_, self.n_held_out_ = classes, len(held_out)
        self.moments_, self.reflections_ = described[0].settings.moments, reflections
        self.prior_, self.beta_, self.fourier_ = self._voters.prior, self._voters.beta, self._voters.fourier
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Compute the probabilities of the classes.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
            Measures of any sizes: bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`.

        Returns
        -------
        float64 array (n, n_classes)
            The probabilities, in the order of `classes_`.

        Raises
        ------
        TypeError
            If `X` does not hold measures.
        ValueError
            If a measure has negative mass, no mass or values that are not finite, or if `X` has the wrong shape.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
        """
        check_is_fitted(self)
        batch = read_measures(self._read(X, reset=False))
        for i in range(len(batch)):
            batch.check_measure(i)
        return np.concatenate([decisions.probabilities for decisions in self._decide_in_chunks(batch)])

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict the most probable class of every image.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
            Measures of any sizes: bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`.

        Returns
        -------
        array (n,)
            The labels; ties go to the first in `classes_`.

        Raises
        ------
        TypeError
            If `X` does not hold measures.
        ValueError
            If a measure has negative mass, no mass or values that are not finite, or if `X` has the wrong shape.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
        """
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_with_evidence(self, X: Any) -> tuple[Floats, list[Evidence]]:  # noqa: N803
        """Compute the probabilities of the classes, and find the example that decided about every image.

        Every image is described and compared once, instead of once for `predict_proba` and again for `explain`.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
            Measures of any sizes: bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`.

        Returns
        -------
        probabilities : float64 array (n, n_classes)
            The probabilities, in the order of `classes_`.
        evidence : list of Evidence
            For every image, the example of the most probable class that contributed most.

        Raises
        ------
        TypeError
            If `X` does not hold measures.
        ValueError
            If a measure has negative mass, no mass or values that are not finite, or if `X` has the wrong shape.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.

        Examples
        --------
        >>> model = FewShotClassifier().fit([np.ones((40, 40)), np.tri(60)], ["square", "triangle"])
        >>> probabilities, evidence = model.predict_with_evidence([np.tri(30), np.ones((9, 30))])
        >>> [each.label.item() for each in evidence]
        ['triangle', 'square']
        """
        check_is_fitted(self)
        batch = read_measures(self._read(X, reset=False))
        for i in range(len(batch)):
            batch.check_measure(i)
        probabilities, evidence = [], []
        for decisions in self._decide_in_chunks(batch):
            probabilities.append(decisions.probabilities)
            votes, shares = decisions.join_votes()
            owners, examples = decisions.pairs[votes].T
            is_other = self._voters.views[0].codes[examples] != decisions.probabilities.argmax(axis=1)[owners]
            order = np.lexsort([-shares, is_other, owners])
            decisive = order[np.unique(owners[order], return_index=True)[1]]
            evidence += [self._make_evidence(decisions, votes[k], shares[k]) for k in decisive]
        return np.concatenate(probabilities), evidence

    def explain(self, image: Any, n_shown: int = 5) -> list[Evidence]:
        """Find the examples that contributed most to the decision about one image, with the maps to them.

        Parameters
        ----------
        image : array (H, W), PointCloud, or row (H · W,) of a table
            The image, with bright ink on zeros. A row of a table needs `image_shape`.
        n_shown : int, default 5
            The largest number of examples to return.

        Returns
        -------
        list of Evidence
            The most important example first. ``radoncdt.plot.overlay(image, example, evidence.registration)`` shows the
            image over the example.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If `image` is not one image, has negative mass or no mass, or if `n_shown` is less than 1.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.

        See Also
        --------
        radoncdt.plot.overlay : Shows an image over an example.
        """
        check_is_fitted(self)
        if self.image_shape is not None and np.shape(image) == (np.prod(self.image_shape),):
            image = np.reshape(image, self.image_shape)
        batch = read_measures(Batch.read_one(image, "image"), "image")
        _validation.check_count(n_shown, "n_shown", 1)
        decisions = self._voters.decide(batch, self.n_jobs)
        votes, shares = decisions.join_votes()
        most = np.argsort(-shares, kind="stable")[:n_shown]
        return [self._make_evidence(decisions, votes[k], shares[k]) for k in most]

    def _decide_in_chunks(self, batch: Batch) -> Iterator[Decisions]:
        for start in range(0, len(batch), _QUERIES_PER_CHUNK):
            items = batch.items[start : start + _QUERIES_PER_CHUNK]
            yield self._voters.decide(Batch(items, (len(items),), batch.name), self.n_jobs)

    def _make_evidence(self, decisions: Decisions, vote: int, share: float) -> Evidence:
        example = int(decisions.pairs[vote, 1])
        label = self.classes_[self._voters.views[0].codes[example]]
        registration = decisions.make_registration(int(vote))
        return Evidence(example, label, float(share), float(decisions.distances[vote]), registration)

    # ------------------------------------------------------------ choices

    @property
    def _chooses_prior(self) -> bool:
        return isinstance(self.prior, str) and self.prior == "auto"

    def _check_parameters(self) -> Frame:
        """Check all parameters, and return the frame on which images are compared."""
        _threads.check_n_jobs(self.n_jobs)
        _validation.check_choice(self.moments, "moments", _MOMENTS)
        if not isinstance(self.reflections, (bool, np.bool_)) and self.reflections != "auto":
            problem = f"must be True, False or 'auto', got {self.reflections!r}"
            raise (ArgumentValueError if isinstance(self.reflections, str) else ArgumentTypeError)(
                "reflections", problem
            )
        if isinstance(self.prior, str):
            _validation.check_choice(self.prior, "prior", ("auto", *PRIORS))
        if not self._chooses_prior:
            read_prior(self.prior)
        for name in ("n_candidate_classes", "n_examples"):
            _validation.check_count(getattr(self, name), name, 1)
        return Frame.read(self.frame_size, self.window)

    def _describe(self, batch: Batch) -> list[Descriptors]:
        """Describe the examples with all moments that may be used, the ones for clean images first."""
        described = []
        for moments in ("exact", "robust") if self.moments == "auto" else (self.moments,):
            robust = ROBUST if moments == "robust" else {}
            settings = DescriptorSettings(self.n_angles, self.n_levels, **robust)
            described.append(describe_batch(batch, settings, self.n_jobs).astype(np.float32))
        return described

    def _choose_registration(
        self, described: list[Descriptors], codes: NDArray[np.intp], held_out: NDArray[np.intp]
    ) -> tuple[list[Descriptors], bool, MapPrior]:
        """Choose moments, reflections and the penalties of maps by the nearest neighbours of held-out examples.

        The descriptors are returned with the chosen ones first.
        """
        every_reflections = (False, True) if self.reflections == "auto" else (bool(self.reflections),)
        given = PRIORS["any"] if self._chooses_prior else read_prior(self.prior)
        options = [(each, mirror, given) for each in described for mirror in every_reflections]
        chosen = options[0]
        if len(held_out):
            chosen = self._choose_option(options, codes, held_out, _MIN_GAIN)
            if self._chooses_prior:
                priors = [MapPrior(aspect=aspect, rotation=rotation) for aspect in _ASPECTS for rotation in _ROTATIONS]
                chosen = self._choose_option([(*chosen[:2], prior) for prior in priors], codes, held_out, 0.0)
        first = chosen[0]
        return [first, *(each for each in described if each is not first)], *chosen[1:]

    def _choose_option(
        self, options: list[_Option], codes: NDArray[np.intp], held_out: NDArray[np.intp], min_gain: float
    ) -> _Option:
        """Return the best option; one that is not the first must gain more than `min_gain` standard errors."""
        if len(options) == 1:
            return options[0]
        scores = np.array([self._score(option, codes, held_out) for option in options])
        gains = scores - scores[0]
        errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
        accepted = np.where(gains.mean(axis=1) > min_gain * errors, gains.mean(axis=1), 0.0)
        return options[int(accepted.argmax())]

    def _score(self, option: _Option, codes: NDArray[np.intp], held_out: NDArray[np.intp]) -> Floats:
        """Return how well the other examples classify each held-out one: right or wrong, and the margin."""
        descriptors, reflections, prior = option
        limits = Plausible(reflections=reflections)
        distances = compute_distances(descriptors[held_out], descriptors, limits, self.n_jobs, prior=prior)
        squares = np.maximum(distances**2, 1e-6)
        squares[np.arange(len(held_out)), held_out] = np.inf
        is_same = codes[held_out][:, None] == codes
        same, other = (np.where(chosen, squares, np.inf).min(axis=1) for chosen in (is_same, ~is_same))
        return (same < other) + _MARGIN_WEIGHT * np.clip(np.log(other / same), -1, 1)

    def _choose_votes(self, views: tuple[Examples, ...], held_out: NDArray[np.intp]) -> Voters:
        """Choose the penalties of maps and the weights of votes by the likelihood of held-out examples.

        The other moments are consulted about all images if, about uncertain ones only, they would correct fewer errors.
        """
        prior = views[0].prior
        if not len(held_out):
            return Voters(views, prior)
        priors = [prior]
        if self._chooses_prior:
            penalties = [(aspect, rotation) for aspect in _BENT_ASPECTS for rotation in _BENT_ROTATIONS]
            priors = [replace(prior, bent_aspect=aspect, bent_rotation=rotation) for aspect, rotation in penalties]
        found = [view.compare(view.framed[held_out], self.n_jobs, exclude=held_out) for view in views]
        own = np.arange(len(held_out)), views[0].codes[held_out]
        every = [Voters(views, each, beta, weight) for weight in _FOURIERS for beta in _BETAS for each in priors]
        losses = [-np.log(voters.vote(found, len(held_out))[own]).mean() for voters in every]
        best = every[int(np.argmin(np.round(losses, 9)))]
        first, both = (best.vote(some, len(held_out)) for some in (found[:1], found))
        gated = np.where(first.max(axis=1, keepdims=True) >= _CERTAIN, first, both)
        n_right, n_right_gated = (int((each.argmax(axis=1) == own[1]).sum()) for each in (both, gated))
        return replace(best, certain=_CERTAIN) if n_right_gated >= n_right else best


def _hold_out(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Choose examples to classify by the others: some whose class has several, or none if there are too few."""
    several = np.flatnonzero(np.bincount(codes)[codes] >= 2)
    chosen = np.sort(np.random.default_rng(0).permutation(several)[:_MAX_HELD_OUT])
    return chosen if len(chosen) >= _MIN_HELD_OUT else chosen[:0]
