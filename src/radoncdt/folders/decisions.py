"""The decisions of classifiers about images, with the examples that decided."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.estimators import AffineNeighborsClassifier, FewShotClassifier
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.descriptors import Descriptors, describe
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import read_prior
from radoncdt.matching.registration import Registration

__all__ = ["Classifier", "Decision", "FittedClassifier", "fit_classifier"]

Classifier: TypeAlias = FewShotClassifier | AffineNeighborsClassifier
Ink: TypeAlias = NDArray[np.float32]


class Decision(NamedTuple):
    """A decision about an image. Classes and examples are numbers; see `Prediction` for the meaning of the fields."""

    predicted: int | None = None
    p: float | None = None
    second: int | None = None
    second_p: float | None = None
    example: int | None = None
    share: float | None = None
    distance: float | None = None
    margin: float | None = None
    registration: Registration | None = None


class FittedClassifier(Protocol):
    """A fitted classifier that decides about images."""

    @property
    def settings(self) -> Mapping[str, str]:
        """How the classifier is set, in words."""

    def decide(self, images: list[Ink]) -> list[Decision]:
        """Decide about images."""


def fit_classifier(classifier: object, images: list[Ink], labels: list[str]) -> FittedClassifier:
    """Fit a classifier to examples. The classes of its decisions are numbers in the order of the sorted labels."""
    if isinstance(classifier, FewShotClassifier):
        return _FewShot(classifier, images, labels)
    if isinstance(classifier, AffineNeighborsClassifier):
        return _Neighbours(classifier, images, labels)
    raise ArgumentTypeError(
        "classifier", f"must be a FewShotClassifier or an AffineNeighborsClassifier, got {classifier!r}"
    )


class _FewShot:
    def __init__(self, classifier: FewShotClassifier, images: list[Ink], labels: list[str]) -> None:
        self._model = clone(classifier).fit(images, labels)

    @property
    def settings(self) -> dict[str, str]:
        """What was chosen, and what was given."""
        model = self._model
        found = {
            "prior": (str(model.prior_), model.prior),
            "mirror images": ("the same" if model.reflections_ else "distinguished", model.reflections),
            "moments": (model.moments_, model.moments),
        }
        how = "chosen" if model.n_held_out_ else "default"
        return {"classifier": type(model).__name__} | {
            name: f"{value} ({how})" if isinstance(given, str) and given == "auto" else value
            for name, (value, given) in found.items()
        }

    def decide(self, images: list[Ink]) -> list[Decision]:
        """Decide by the votes of all candidates."""
        decisions = []
        for shares, evidence in zip(*self._model.predict_with_evidence(images)):
            first, second = np.argsort(-shares, kind="stable")[:2].tolist()
            decisions.append(
                Decision(
                    predicted=first,
                    p=float(shares[first]),
                    second=second,
                    second_p=float(shares[second]),
                    example=evidence.example,
                    share=evidence.share,
                    distance=evidence.distance,
                    registration=evidence.registration,
                )
            )
        return decisions


class _Neighbours:
    def __init__(self, classifier: AffineNeighborsClassifier, images: list[Ink], labels: list[str]) -> None:
        for name in ("n_neighbors", "refine"):
            count = getattr(classifier, name)
            if isinstance(count, int) and count > len(images):
                raise ArgumentValueError(name, f"must be at most {len(images)}, the number of examples, got {count}")
        self._model = clone(classifier).fit(images, labels)
        self._codes = np.unique(labels, return_inverse=True)[1]
        self._limits = Plausible(**{field.name: getattr(classifier, field.name) for field in fields(Plausible)})

    @property
    def settings(self) -> dict[str, str]:
        """What was given."""
        model, limits = self._model, self._limits
        return {
            "classifier": type(model).__name__,
            "neighbours": str(model.n_neighbors),
            "prior": str(read_prior(model.prior)),
            "mirror images": "the same" if model.reflections else "distinguished",
            "moments": model.moments,
            **({"limits": str(limits)} if limits.is_limited else {}),
        }

    def decide(self, images: list[Ink]) -> list[Decision]:
        """Decide by the votes of the nearest examples that plausible maps lead to."""
        model = self._model
        described = describe(images, n_jobs=model.n_jobs, **asdict(model.descriptors_.settings))
        n_examples = model.n_samples_fit_
        queries: list[Any] = list(described) if model.refine is None else images  # pixels are needed to refine
        distances, indices = model.kneighbors(queries, n_examples if model.refine is None else model.refine)
        reached = np.flatnonzero(distances[:, 0] < np.inf).tolist()
        decisions = [Decision()] * len(images)
        if reached:
            votes = model.predict_proba([queries[i] for i in reached])
            for i, shares in zip(reached, votes):
                decisions[i] = self._decide(described[i], shares, distances[i], indices[i])
        return decisions

    def _decide(
        self, image: Descriptors, votes: NDArray[np.float64], distances: NDArray[Any], indices: NDArray[Any]
    ) -> Decision:
        """Decide about one image by the votes of its classes, and the distances to all examples, the nearest first."""
        model = self._model
        n_reached = int((distances < np.inf).sum())
        codes = self._codes[indices[:n_reached]]
        best = int(np.flatnonzero(votes[codes] == votes.max())[0])  # of several equal classes, the nearest example's
        others = np.flatnonzero(codes != codes[best])
        distance = float(distances[best])
        other = float(distances[others[0]]) if others.size else np.inf
        second = int(codes[others[0]]) if others.size else None
        votes_count = model.n_neighbors > 1
        return Decision(
            predicted=int(codes[best]),
            p=float(votes[codes[best]]) if votes_count else None,
            second=second,
            second_p=float(votes[second]) if votes_count and second is not None else None,
            example=int(indices[best]),
            distance=distance,
            margin=1.0 if other == distance else other / distance if distance > 0 else np.inf,
            registration=find_registration(
                image,
                model.descriptors_[int(indices[best])],
                self._limits,
                prior=read_prior(model.prior),
                n_jobs=1,
            ),
        )
