"""The few-shot classifier."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rows import OfRows, list_checks
from shapes import TURNED
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from radoncdt import AffineNeighborsClassifier, FewShotClassifier, MapPrior, PointCloud, datasets, push_forward
from radoncdt.estimators.few_shot import _hold_out
from radoncdt.matching.votes import Voters
from radoncdt.measures import Batch


@pytest.fixture(scope="module")
def drawn():
    """Thirty copies of six symbols, the symbols themselves, and the names of both."""
    names = ["circle-star1", "circle-star4", "square-star1", "square-star4", "triangle-star1", "shield-triangle"]
    symbols = np.stack(list(datasets.templates(names, canvas=128, size=64).values()))
    copies, _ = datasets.random_affine(np.repeat(symbols, 5, axis=0), TURNED, 0)
    return copies, symbols, np.repeat(names, 5), np.array(names)


@pytest.fixture(scope="module")
def digits():
    """Ten digits of four classes each, and their labels."""
    mnist = datasets.load_mnist()
    chosen = np.concatenate([np.flatnonzero(mnist.labels == digit)[:10] for digit in (1, 3, 4, 7)])
    return mnist.images[chosen], mnist.labels[chosen]


def test_copies_are_classified_from_one_symbol_per_class(drawn):
    copies, symbols, labels, names = drawn
    model = FewShotClassifier(reflections=True).fit(symbols, names)
    assert model.score(copies, labels) == 1
    assert_allclose(model.predict_proba(copies).sum(axis=1), 1)
    assert (model.moments_, model.prior_) == ("exact", MapPrior())


def test_one_example_per_class_leaves_no_choice(drawn):
    _, symbols, _, names = drawn
    model = FewShotClassifier().fit(symbols, names)
    assert (model.moments_, model.reflections_, model.prior_, model.beta_) == ("exact", False, MapPrior(), 5.0)


@pytest.mark.parametrize("model", [FewShotClassifier(), AffineNeighborsClassifier()])
def test_one_example_of_many_classes_is_no_reason_for_a_warning(digits, model):
    names = np.array([f"class {k}" for k in range(25)])
    assert_array_equal(model.fit(digits[0][:25], names).predict(digits[0][:25]), names)


def test_parameters_are_chosen_from_several_examples(digits):
    images, labels = digits
    model = FewShotClassifier().fit(images[::2], labels[::2])
    assert model.prior_.rotation > 0  # the digits are upright
    assert model.score(images[1::2], labels[1::2]) >= 0.8
    given = FewShotClassifier(prior="upright", reflections=False, moments="robust").fit(images[::2], labels[::2])
    assert (given.moments_, given.reflections_) == ("robust", False)
    assert given.prior_.rotation == 0.03


def test_specks_need_not_be_announced():
    names = ["circle-star1", "circle-star4", "square-star1", "square-star4", "triangle-star1", "shield-triangle"]
    images, labels = datasets.few_shot("all", 5, rng=0, classes=names)
    train = np.arange(len(images)) % 5 == 0  # one of each
    model = FewShotClassifier().fit(images[train], labels[train])
    assert model.score(images[~train], labels[~train]) > 0.9
    exact = FewShotClassifier(moments="exact").fit(images[train], labels[train])
    assert exact.score(images[~train], labels[~train]) < 0.7


def test_other_moments_are_consulted_about_uncertain_images_only(digits):
    images, labels = digits
    both = FewShotClassifier().fit(images[::2], labels[::2])
    assert both.moments_ == "exact"
    alone = Voters(both._voters.views[:1], both._voters.prior, both._voters.beta, both._voters.fourier)
    batch = Batch.read(images[1::2])
    certain = alone.decide(batch, 1).probabilities.max(axis=1) >= 0.9
    assert 0 < certain.sum() < len(certain)
    assert both._voters.certain == 0.9
    decisions = both._voters.decide(batch, 1)
    assert_array_equal(decisions.rounds[1].numbers, np.flatnonzero(~certain))
    assert_array_equal(decisions.probabilities[certain], alone.decide(batch, 1).probabilities[certain])
    assert_allclose(np.bincount(decisions.pairs[:, 0], decisions.shares), 1)


def test_similar_fourier_magnitudes_add_to_the_vote(digits):
    images, labels = digits
    model = FewShotClassifier().fit(images[::10], labels[::10])
    found = model._voters.decide(Batch.read(images[::10]), 1).rounds[0].found
    own = found.pairs[:, 0] == found.pairs[:, 1]
    assert (found.features[3, own] < found.features[3, ~own].min()).all()
    assert model.fourier_ == 0.35


def test_results_depend_neither_on_the_batch_nor_on_threads(digits):
    images, labels = digits
    model = FewShotClassifier(n_jobs=1).fit(images[::2], labels[::2])
    expected = model.predict_proba(images[1::2])
    assert_array_equal(FewShotClassifier(n_jobs=2).fit(images[::2], labels[::2]).predict_proba(images[1::2]), expected)
    assert_array_equal(np.concatenate([model.predict_proba(image[None]) for image in images[1::2]]), expected)
    assert_array_equal(model.predict_proba([np.pad(image, 5) for image in images[1::2]]), expected)


def test_it_explains_its_decisions(digits):
    images, labels = digits
    model = FewShotClassifier().fit(images[::2], labels[::2])
    evidence = model.explain(images[1], n_shown=4)
    assert len(evidence) == 4
    assert evidence[0].label == model.predict(images[1:2])[0]
    assert [each.share for each in evidence] == sorted((each.share for each in evidence), reverse=True)
    assert sum(each.share for each in evidence) <= 1 + 1e-12
    for each in evidence:
        assert labels[::2][each.example] == each.label


def test_an_example_is_named_once(digits):
    """With one example per class, exact and robust moments both vote, and their shares are added."""
    images, labels = digits
    first = np.unique(labels, return_index=True)[1]
    model = FewShotClassifier().fit(images[first], labels[first])
    evidence = model.explain(images[1], 99)
    examples = [each.example for each in evidence]
    assert len(set(examples)) == len(examples) == len(first)
    shares = np.zeros(len(first))
    shares[examples] = [each.share for each in evidence]
    assert_allclose(shares, model.predict_proba(images[1:2])[0], atol=0.001)  # probabilities have a floor


def test_evidence_comes_with_the_probabilities(digits):
    """They are those of the two methods that it replaces; the example belongs to the most probable class."""
    images, labels = digits
    model = FewShotClassifier().fit(images[::2], labels[::2])
    probabilities, evidence = model.predict_with_evidence(images[1::2])
    assert_array_equal(probabilities, model.predict_proba(images[1::2]))
    assert [each.label for each in evidence] == model.predict(images[1::2]).tolist()
    for image, found in zip(images[1::2], evidence, strict=True):
        expected = next(each for each in model.explain(image, 99) if each.label == found.label)
        assert (found.example, found.share) == (expected.example, pytest.approx(expected.share, rel=1e-12))
        assert found.registration.distance == expected.registration.distance
        assert found.distance == expected.distance
        assert_allclose(found.registration.matrix, expected.registration.matrix, rtol=1e-9)


def test_the_map_of_an_explanation_leads_to_the_example():
    flag = np.zeros((80, 80))
    flag[20:60, 30:36] = flag[20:40, 36:56] = 1
    matrix, shift = np.array([[0.3, -1.1], [0.9, 0.5]]), np.array([3.0, 5.0])
    moved = push_forward(flag, matrix, shift, shape=(140, 140))
    model = FewShotClassifier().fit([moved, np.ones((40, 10))], ["flag", "bar"])
    best = model.explain(flag)[0]
    assert best.label == "flag"
    assert best.registration.credible
    assert best.registration.distance < 0.03
    assert 0 < best.distance < 1
    assert_allclose(best.registration.matrix, matrix, atol=0.05)
    assert_allclose(best.registration.shift, shift, atol=1)
    assert best.registration.frames == ((80, 80), (140, 140))


def test_images_of_any_size_clouds_and_tables_are_read():
    rng = np.random.default_rng(0)
    clouds = [PointCloud(rng.normal(size=(9, 2))) for _ in range(3)]
    stack = rng.random((3, 9, 7))
    model = FewShotClassifier().fit([*stack, *clouds], [*"abc", *"xyz"])
    assert_array_equal(model.predict([clouds[2], stack[1], np.pad(stack[0], 3)]), ["z", "b", "a"])
    table = FewShotClassifier(image_shape=(9, 7)).fit(stack.reshape(3, -1), [1, 2, 3])
    assert_array_equal(table.predict(stack.reshape(3, -1)), [1, 2, 3])
    assert table.explain(stack[1].reshape(-1))[0].example == 1


@pytest.mark.parametrize("labels", [["b", "a", "c"], [3, 1, 2], [True, False, True], np.array(["x", "y", "x"], object)])
def test_labels_may_have_any_type(labels):
    images = [np.ones((20, 20)), np.tri(20), np.eye(20) + np.eye(20)[::-1]]
    model = FewShotClassifier().fit(images, labels)
    assert_array_equal(model.predict(images), labels)
    assert_array_equal(model.classes_, np.unique(labels))


def test_it_can_be_pickled_cloned_and_searched(digits):
    images, labels = digits
    model = FewShotClassifier(prior="upright", reflections=False, moments="exact")
    search = GridSearchCV(model, {"window": [0, 2]}, cv=2).fit(images[::2], labels[::2])
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(again.predict_proba(images), search.best_estimator_.predict_proba(images))


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({}, [1, 1], "`y` must have at least two classes, got one class, 1"),
        ({}, [1, 2, 3], "`y` must have one label per image, 2, got 3"),
        ({"prior": "sideways"}, [1, 2], "`prior` must be one of 'auto', 'any', 'upright', 'photograph', got"),
        ({"reflections": "no"}, [1, 2], "`reflections` must be True, False or 'auto', got 'no'"),
        ({"reflections": 1}, [1, 2], "`reflections` must be True, False or 'auto', got 1"),
        ({"moments": "levels"}, [1, 2], "`moments` must be one of 'auto', 'exact', 'robust'"),
        ({"frame_size": 4}, [1, 2], "`frame_size` must be at least 8"),
        ({"window": -1}, [1, 2], "`window` must be at least 0"),
        ({"n_candidate_classes": 0}, [1, 2], "`n_candidate_classes` must be at least 1"),
        ({"n_examples": 1.5}, [1, 2], "`n_examples` must be an integer"),
        ({"n_jobs": 0}, [1, 2], "`n_jobs` must not be 0"),
    ],
)
def test_wrong_arguments_are_refused(parameters, labels, message):
    with pytest.raises((TypeError, ValueError), match=message):
        FewShotClassifier(**parameters).fit([np.ones((9, 9)), np.tri(9)], labels)


def test_images_without_ink_are_refused():
    with pytest.raises(ValueError, match=r"`X\[1\]` must have mass"):
        FewShotClassifier().fit([np.ones((9, 9)), np.zeros((9, 9))], [1, 2])
    model = FewShotClassifier().fit([np.ones((9, 9)), np.tri(9)], [1, 2])
    for method in (model.predict, model.predict_with_evidence):
        with pytest.raises(ValueError, match=r"`X\[0\]` must not have negative mass"):
            method([-np.ones((9, 9))])


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_brightness_does_not_matter(digits, scale):
    images, labels = digits[0][::5].astype(float), digits[1][::5]
    model = FewShotClassifier().fit(images, labels)
    assert_allclose(model.predict_proba(images * scale), model.predict_proba(images), atol=1e-5)


def test_stretched_images_are_recognised(digits):
    images, labels = digits[0][::10], digits[1][::10]
    large = [np.kron(image, np.ones((6, 6))) for image in images]
    model = FewShotClassifier().fit(large, labels)
    for aspect in (2, 4, 8, 16):
        stretched = [push_forward(image, np.diag([1, 1 / aspect]), shape=(168, 168)) for image in large]
        assert_array_equal(model.predict(stretched), labels)


def test_a_failed_fit_leaves_the_model_as_it_was():
    square, triangle = np.ones((20, 20)), np.tri(20)
    model = FewShotClassifier()
    with pytest.raises(ValueError, match="must have mass"):
        model.fit([square, np.zeros((20, 20))], ["a", "b"])
    with pytest.raises(NotFittedError):
        model.predict([square])
    model.fit([square, triangle], ["square", "triangle"])
    with pytest.raises(ValueError, match="must have mass"):
        model.fit([triangle, square, np.zeros((20, 20))], ["a", "b", "c"])
    assert_array_equal(model.predict([square, triangle]), ["square", "triangle"])


def test_parameters_that_are_set_later_take_effect_at_the_next_fit(digits):
    images, labels = digits
    model = FewShotClassifier().fit(images[::2], labels[::2])
    expected = model.predict_proba(images[1::2])
    model.set_params(n_angles=16, frame_size=20, n_candidate_classes=1, prior="upright")
    assert_array_equal(model.predict_proba(images[1::2]), expected)


def test_a_class_with_one_example_does_not_prevent_a_choice(digits):
    images, labels = digits
    model = FewShotClassifier().fit([*images, np.ones((28, 28))], [*labels, 10])
    assert model.prior_ != MapPrior()


def test_errors_name_the_image_among_many():
    square, triangle = np.ones((9, 9)), np.tri(9)
    model = FewShotClassifier().fit([square, triangle], [1, 2])
    with pytest.raises(ValueError, match=r"`X\[280\]` must have mass"):
        model.predict([square] * 280 + [0 * square] + [triangle] * 20)


class FewShotOfRows(OfRows, FewShotClassifier):
    pass


@pytest.mark.parametrize(("estimator", "check"), [*list_checks(FewShotOfRows(n_angles=4, n_levels=5, frame_size=8))])
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def test_a_few_classes_with_two_examples_suffice_for_a_choice():
    codes = np.concatenate([np.arange(1000), np.arange(5)])
    held_out = _hold_out(codes)
    assert_array_equal(held_out, [0, 1, 2, 3, 4, 1000, 1001, 1002, 1003, 1004])
    assert len(_hold_out(np.arange(1000))) == 0
    assert len(_hold_out(np.repeat(np.arange(200), 2))) == 150
