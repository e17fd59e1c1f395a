"""Baselines of other libraries: what affine maps leave unchanged, and what not."""

import numpy as np

import radoncdt
from radoncdt import datasets
from radoncdt.reproduction.baselines import (
    SIDE,
    SPREAD,
    compute_hog,
    compute_hu_moments,
    compute_zernike_moments,
    whiten,
)


def move(matrix):
    symbol = datasets.templates(["triangle-star4"], canvas=256)["triangle-star4"]
    copy = radoncdt.push_forward(symbol, matrix, [7, -4], shape=(256, 256))
    return np.stack([symbol, copy * abs(np.linalg.det(matrix))])  # keeps grey values, not the mass


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def test_whitened_images_are_centred_and_isotropic():
    images = move([[0.7, 0.5], [-0.1, 0.9]])
    for image in images:
        white = whiten(image)
        assert white.shape == (SIDE, SIDE)
        np.testing.assert_allclose(radoncdt.mean(white), [0, 0], atol=0.1)
        np.testing.assert_allclose(radoncdt.covariance(white), SPREAD**2 * np.eye(2), rtol=0.02, atol=6)


def test_whitening_keeps_the_sense_of_rotation():
    """A stretched copy is the same when it is whitened; so x and y are not mixed up."""
    symbol, wide = (whiten(image) for image in move([[0.6, 0], [0, 1.1]]))
    assert np.abs(symbol - wide).mean() < 0.5 * symbol.mean() < np.abs(symbol - wide.T).mean()


def test_hu_moments_are_those_of_similar_shapes():
    symbol, copy = compute_hu_moments(move(0.8 * turn(2)))
    np.testing.assert_allclose(symbol[:2], copy[:2], atol=0.05)
    _, sheared = compute_hu_moments(move([[1, 0.8], [0, 0.7]]))
    assert np.abs(symbol[:2] - sheared[:2]).max() > 0.1


def test_zernike_moments_are_those_of_affine_copies():
    symbol, copy = compute_zernike_moments(move(turn(1) @ [[0.7, 0.4], [0, 1]]))
    other = compute_zernike_moments(datasets.templates(["shield-circle"], canvas=256)["shield-circle"][None])[0]
    assert symbol.shape == (25,)
    assert np.linalg.norm(symbol - copy) < 0.25 * np.linalg.norm(symbol - other)


def test_hog_is_that_of_stretched_copies():
    symbol, copy = compute_hog(move([[0.6, 0], [0, 1.1]]))
    _, turned = compute_hog(move(turn(1)))
    assert symbol.shape == (1764,)
    assert np.linalg.norm(symbol - copy) < 0.6 * np.linalg.norm(symbol - turned)
