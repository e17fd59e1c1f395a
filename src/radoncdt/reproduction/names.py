"""What things are called in tables and figures."""

DATASETS = {"academic": "academic", "linmnist": "LinMNIST"}
NORMS = {"inf": "‖·‖∞", "2": "‖·‖₂"}
FEATURES = {"euclidean": "Euclidean", "rcdt": "R-CDT", "mnrcdt": "mNR-CDT"}
PROTOCOLS = {
    "published": "As published: the classes share their maps, and the images of LinMNIST ten of them",
    "independent": "Independent: every image has a map of its own",
}
SETS = {"aff": "aff", "elastic": "elastic", "salt": "salt", "all": "all", "linmnist10": "LinMNIST-10"}
METHODS = {
    "pixels": "pixels",
    "rcdt": "R-CDT",
    "mnrcdt": "mNR-CDT",
    "anrcdt": "aNR-CDT",
    "max_whitened": "max, whitened directions",
    "mean_whitened": "mean, whitened directions",
    "sorted": "sorted, whitened directions",
    "fourier": "Fourier, whitened directions",
    "registered": "registered",
    "unmirrored": "registered, mirror images told apart",
    "robust": "robust, registered",
    "hu": "Hu moments",
    "zernike": "Zernike moments, whitened image",
    "hog": "HOG, whitened image",
}
VARIED = {"dots": "discs of salt in an image", "amplitude": "amplitude of the waves, in pixels"}
