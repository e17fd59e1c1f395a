"""A classifier for a few examples per class: register, bend, compare, vote."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radoncdt import _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._interface import Bending
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.estimators.transformers import ImageEstimator
from radoncdt.matching.descriptors import Descriptors, describe_batch
from radoncdt.matching.distortion import compare_bent
from radoncdt.matching.frames import Canvases, make_canvases
from radoncdt.matching.prior import MapPrior, read_prior
from radoncdt.matching.registration import Registration
from radoncdt.matching.settings import ROBUST, DescriptorSettings
from radoncdt.matching.turns import compute_map_features, find_turns
from radoncdt.measures import Batch

__all__ = ["Evidence", "FewShotClassifier"]

_MOMENTS = ("auto", "exact", "robust")
_N_HELD_OUT = 150  # training images that are classified by the others, at most, to choose the parameters
_QUERIES_PER_CHUNK = 256  # images whose distances to all examples are kept at a time
_FLOOR = 1e-3  # probability that is shared by all classes, so that none is impossible
_MIN_GAIN = 2.0  # standard errors by which reflections or robust moments must be better than the simplest choice
_MARGIN_WEIGHT = 0.1  # weight of the margin beside the accuracy in the choice of a prior

# Values that are tried, from the simplest to the others.
_ASPECTS, _ROTATIONS = (0.0, 0.002, 0.006, 0.02), (0.0, 0.003, 0.01, 0.03)
_BENT_ASPECTS, _BENT_ROTATIONS = (0.0, 0.1, 0.3, 1.0), (0.0, 0.1, 0.3, 1.0)
_BETAS = (5.0, 2.0, 3.5, 8.0)


class Evidence(NamedTuple):
    """An example that contributed to a decision."""

    example: int
    """The number of the training image."""
    label: Any
    share: float
    """Its share of all votes."""
    registration: Registration
    """The map from the image to the example, and their distortion distance."""


class _Comparison(NamedTuple):
    """Images compared with their candidates among the examples: n pairs."""

    pairs: NDArray[np.intp]
    distances: Floats
    features: Floats  # (3, n): aspect, rotation and mirror of the maps
    maps: Floats  # (n, 2, 3): from the frames of the examples to the canvases of the images


class _Model(NamedTuple):
    """Examples, as they are compared with images."""

    settings: DescriptorSettings
    descriptors: Descriptors
    canvases: Canvases


class FewShotClassifier(ClassifierMixin, ImageEstimator):
    """Classify images from a few examples per class, however they were moved and slightly bent.

    An image is registered with all examples by their descriptors. On frames of the whitened plane it is then compared
    with the nearest examples of the nearest classes, pixel by pixel, and small distortions are allowed. All these
    examples vote for their classes.

    Parameters
    ----------
    prior : "auto", "any", "upright", "photograph", MapPrior, or (aspect, rotation)
        Which maps from an image to an example are likely. "auto" chooses the prices of maps by leave-one-out on the
        training images if every class has at least two, and otherwise means "any". With one example per class, say
        "upright" for characters and symbols that are hardly rotated, and "photograph" if they may be rotated but hardly
        stretched.
    reflections : bool or "auto"
        Whether an image may be mirrored. "auto" chooses by leave-one-out; with one example per class it means False.
    moments : {"auto", "exact", "robust"}
        The moments of the descriptors; see `nrcdt`. "robust" also omits the outermost levels. "auto" chooses by
        leave-one-out; with one example per class it means "exact".
    n_angles, n_levels : int
        Directions and levels of the descriptors.
    frame_size : int
        Points along each side of the frame on which images are compared. Complex shapes need more, such as 56.
    window : int, optional
        Largest displacement of a part of the image, in points of the frame; by default 2, or 3 for frames of more than
        28 points.
    n_classes : int
        The number of classes whose examples are compared with an image pixel by pixel.
    n_examples : int
        The number of examples of each of these classes.
    image_shape : (H, W), optional
        The shape of images that are given as rows of a table.
    n_jobs : int or None
        Threads, as in scikit-learn; −1 is all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels.
    prior_ : MapPrior
        The prior that was given or chosen.
    reflections_ : bool
    moments_ : str
    beta_ : float
        The votes are proportional to exp(−beta · distance).
    n_features_in_ : int
        The number of columns, if X is a table.

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
        n_classes: int = 10,
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
        self.n_classes = n_classes
        self.n_examples = n_examples
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "FewShotClassifier":  # noqa: N803
        """Describe the examples, and choose the parameters that are "auto".

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
        y : array (n,)
            The labels, at least two different ones.
        """
        self._check_parameters()
        batch = read_measures(self._read(X, reset=True))
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if len(labels) != len(batch):
            raise ArgumentValueError("y", f"must have one label per image, {len(batch)}, got {len(labels)}")
        self.classes_, self._codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ArgumentValueError("y", f"must have at least two classes, got one class, {self.classes_[0]!r}")
        can_choose = bool(np.bincount(self._codes).min() >= 2)
        self._choose_registration(batch, can_choose)
        self._choose_votes(can_choose)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Compute the probabilities (n, n_classes) of the classes, in the order of `classes_`."""
        check_is_fitted(self)
        batch = read_measures(self._read(X, reset=False))
        found = [self._vote(self._compare(*chunk), len(chunk[0])) for chunk in self._describe_chunks(batch)]
        return np.concatenate(found)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict the most probable class of every image; ties go to the first in `classes_`."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def explain(self, image: Any, n_examples: int = 5) -> list[Evidence]:
        """Return the examples that contributed most to the decision about one image, with the maps to them.

        ``radoncdt.plot.overlay(image, example, evidence.registration)`` shows an image over an example.
        """
        check_is_fitted(self)
        batch = read_measures(Batch.read_one(image, "image"), "image")
        _validation.check_count(n_examples, "n_examples", 1)
        (descriptors, canvases) = next(self._describe_chunks(batch))
        found = self._compare(descriptors, canvases)
        votes = self._weigh(found)
        votes /= votes.sum()
        chosen = np.argsort(-votes, kind="stable")[:n_examples]
        return [
            Evidence(
                int(found.pairs[k, 1]),
                self.classes_[self._codes[found.pairs[k, 1]]],
                float(votes[k]),
                self._make_registration(descriptors, canvases, found, int(k)),
            )
            for k in chosen
        ]

    # ------------------------------------------------------------ choices

    def _check_parameters(self) -> None:
        _threads.check_n_jobs(self.n_jobs)
        _validation.check_choice(self.moments, "moments", _MOMENTS)
        if self.reflections != "auto":
            _validation.check_instance(self.reflections, "reflections", bool)
        if self.prior != "auto":
            read_prior(self.prior)
        side = _validation.check_count(self.frame_size, "frame_size", 8, 1024)
        window = (2 if side <= 28 else 3) if self.window is None else self.window
        self._bending = Bending(window=_validation.check_count(window, "window", 0, side // 2))
        for name in ("n_classes", "n_examples"):
            _validation.check_count(getattr(self, name), name, 1)

    def _choose_registration(self, batch: Batch, can_choose: bool) -> None:
        """Choose moments, reflections and the prices of maps by the nearest neighbours of held-out examples."""
        held_out = np.sort(np.random.default_rng(0).permutation(len(batch))[:_N_HELD_OUT])
        every_moments = ("exact", "robust") if self.moments == "auto" else (self.moments,)
        every_reflections = (False, True) if self.reflections == "auto" else (self.reflections,)
        if not can_choose:
            every_moments, every_reflections = every_moments[:1], every_reflections[:1]
        models = {moments: self._make_model(batch, moments) for moments in every_moments}
        given = MapPrior() if self.prior == "auto" else read_prior(self.prior)
        options = [(moments, mirror, given) for moments in every_moments for mirror in every_reflections]
        chosen = self._choose_option(models, options, held_out, _MIN_GAIN)
        if self.prior == "auto" and can_choose:
            priors = [MapPrior(aspect=aspect, rotation=rotation) for aspect in _ASPECTS for rotation in _ROTATIONS]
            chosen = self._choose_option(models, [(*chosen[:2], prior) for prior in priors], held_out, 0.0)
        self.moments_, self.reflections_, self.prior_ = chosen
        self._model = models[self.moments_]
        self._held_out = held_out

    def _choose_option(
        self, models: dict[str, _Model], options: list[Any], held_out: NDArray[np.intp], min_gain: float
    ) -> Any:
        """Return the best option; one that is not the first must gain more than `min_gain` standard errors."""
        if len(options) == 1:
            return options[0]
        scores = np.array([self._score(models[moments], mirror, prior, held_out) for moments, mirror, prior in options])
        gains = scores - scores[0]
        errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
        accepted = np.where(gains.mean(axis=1) > min_gain * errors, gains.mean(axis=1), 0.0)
        return options[int(accepted.argmax())]

    def _score(self, model: _Model, reflections: bool, prior: MapPrior, held_out: NDArray[np.intp]) -> Floats:
        """Return how well the other examples classify each held-out one: right or wrong, and the margin."""
        descriptors = model.descriptors
        distances, _ = find_turns(
            descriptors[held_out], descriptors, reflections=reflections, prior=prior.prices, n_jobs=self.n_jobs
        )
        squares = np.maximum(distances**2, 1e-6)
        squares[np.arange(len(held_out)), held_out] = np.inf
        is_same = self._codes[held_out][:, None] == self._codes
        same, other = (np.where(chosen, squares, np.inf).min(axis=1) for chosen in (is_same, ~is_same))
        return (same < other) + _MARGIN_WEIGHT * np.clip(np.log(other / same), -1, 1)

    def _choose_votes(self, can_choose: bool) -> None:
        """Choose the sharpness of the votes, and the prices of maps in them, by the likelihood of held-out examples."""
        self.beta_ = _BETAS[0]
        if not can_choose:
            return
        model, held_out = self._model, self._held_out
        found = self._compare(model.descriptors[held_out], model.canvases[held_out], exclude=held_out)
        auto = self.prior == "auto"
        best = np.inf
        for beta in _BETAS:
            for aspect in _BENT_ASPECTS if auto else (self.prior_.bent_aspect,):
                for rotation in _BENT_ROTATIONS if auto else (self.prior_.bent_rotation,):
                    prior = MapPrior(**{**vars(self.prior_), "bent_aspect": aspect, "bent_rotation": rotation})
                    votes = self._vote(found, len(held_out), beta=beta, prior=prior)
                    loss = -np.log(votes[np.arange(len(held_out)), self._codes[held_out]]).mean()
                    if loss < best - 1e-9:
                        best, chosen = loss, (beta, prior)
        self.beta_, self.prior_ = chosen

    # ------------------------------------------------------------ comparisons

    def _make_model(self, batch: Batch, moments: str) -> _Model:
        settings = DescriptorSettings(self.n_angles, self.n_levels, **(ROBUST if moments == "robust" else {}))
        return _Model(settings, *self._describe(batch, settings))

    def _describe(self, batch: Batch, settings: DescriptorSettings) -> tuple[Descriptors, Canvases]:
        descriptors = describe_batch(batch, settings, self.n_jobs).astype(np.float32)
        return descriptors, make_canvases(batch, descriptors, self.frame_size, self.n_jobs)

    def _describe_chunks(self, batch: Batch) -> Any:
        for start in range(0, len(batch), _QUERIES_PER_CHUNK):
            items = batch.items[start : start + _QUERIES_PER_CHUNK]
            yield self._describe(Batch(items, (len(items),), batch.name), self._model.settings)

    def _compare(
        self, descriptors: Descriptors, canvases: Canvases, exclude: NDArray[np.intp] | None = None
    ) -> _Comparison:
        """Compare images with their candidates; image i is not compared with example exclude[i]."""
        model = self._model
        distances, turns = find_turns(
            descriptors,
            model.descriptors,
            reflections=bool(self.reflections_),
            prior=self.prior_.prices,
            n_jobs=self.n_jobs,
        )
        if exclude is not None:
            distances[np.arange(len(exclude)), exclude] = np.inf
        chosen = [self._choose_candidates(row) for row in distances]
        counts = [len(each) for each in chosen]
        pairs = np.stack([np.repeat(np.arange(len(chosen)), counts), np.concatenate(chosen)], axis=1)
        pair_turns = turns[pairs[:, 0], pairs[:, 1]]
        bent = compare_bent(
            canvases,
            model.canvases,
            pairs,
            pair_turns,
            self.n_angles,
            side=self.frame_size,
            bending=self._bending,
            n_jobs=self.n_jobs,
        )
        features = compute_map_features(descriptors, model.descriptors, pairs, pair_turns)
        return _Comparison(pairs, bent.distances, np.array(features), bent.maps)

    def _choose_candidates(self, distances: Floats) -> NDArray[np.intp]:
        """Return the nearest examples of the nearest classes."""
        order = np.argsort(distances, kind="stable")
        order = order[np.isfinite(distances[order])]
        codes = self._codes[order]
        by_class = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[by_class], prepend=-1))
        ranks = np.empty(len(codes), np.intp)  # of each example among those of its class
        ranks[by_class] = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
        nearest = codes[np.sort(by_class[starts])[: self.n_classes]]
        chosen: NDArray[np.intp] = order[(ranks < self.n_examples) & np.isin(codes, nearest)]
        return chosen

    def _weigh(self, found: _Comparison, beta: float | None = None, prior: MapPrior | None = None) -> Floats:
        """Return the vote of every pair, relative to the largest of the same image."""
        beta, prior = self.beta_ if beta is None else beta, self.prior_ if prior is None else prior
        prices = np.array([prior.bent_aspect, prior.bent_rotation, prior.bent_mirror]) @ found.features
        costs = found.distances + prices
        least = np.full(int(found.pairs[:, 0].max()) + 1, np.inf)
        np.minimum.at(least, found.pairs[:, 0], costs)
        votes: Floats = np.exp(-beta * (costs - least[found.pairs[:, 0]]))
        return votes

    def _vote(self, found: _Comparison, n: int, *, beta: float | None = None, prior: MapPrior | None = None) -> Floats:
        """Return the probabilities (n, n_classes) of the classes of n images."""
        shares = np.zeros((n, len(self.classes_)))
        np.add.at(shares, (found.pairs[:, 0], self._codes[found.pairs[:, 1]]), self._weigh(found, beta, prior))
        shares /= shares.sum(axis=1, keepdims=True)
        return (1 - _FLOOR) * shares + _FLOOR / len(self.classes_)

    def _make_registration(
        self, descriptors: Descriptors, canvases: Canvases, found: _Comparison, k: int
    ) -> Registration:
        """Return the map from the image of a pair to its example, as the comparison found it."""
        i, j = found.pairs[k].tolist()
        model, to_pixels = self._model, canvases.canvases[i].to_pixels
        back = np.linalg.inv(to_pixels[:, :2])
        frame = back @ found.maps[k]
        frame[:, 2] -= back @ to_pixels[:, 2]  # from the frame of the example to the plane of the image
        matrix = model.canvases.roots[j] @ np.linalg.inv(frame[:, :2])
        shift = model.canvases.means[j] - matrix @ frame[:, 2]
        frames = tuple(map(tuple, (descriptors.frames[i].tolist(), model.descriptors.frames[j].tolist())))
        return Registration(matrix, shift, float(found.distances[k]), bool(np.linalg.det(matrix) < 0), frames=frames)  # type: ignore[arg-type]
