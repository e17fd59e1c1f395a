"""Rename functions and constants of the core everywhere; idempotent. usage: rename_core.py ROOT"""
import re, sys
from pathlib import Path

VALIDATION = {
    "real_array": "check_array", "finite_array": "check_finite_array", "coordinates": "check_coordinates",
    "number": "check_number", "count": "check_count", "choice": "check_choice", "sequence": "check_sequence",
    "instance": "check_instance", "pair_of_sizes": "check_image_shape", "not_in_colours": "check_not_colour",
    "first_where": "show_first", "levels_to_the_caller": "find_stacklevel",
    "MOST_ANGLES": "MAX_ANGLES", "MOST_LEVELS": "MAX_LEVELS", "MOST_PIXELS": "MAX_PIXELS", "MOST_SIDE": "MAX_SIDE",
    "MOST_IMAGES": "MAX_IMAGES", "MOST_DISTANT": "MAX_COORDINATE",
}
# names imported from modules of the core: module -> {old: new}
IMPORTED = {
    "_validation": VALIDATION,
    "_text": {"printable": "escape_unprintable", "shortened": "shorten", "LONGEST": "MAX_LENGTH"},
    "_csv": {"guarded": "guard", "unguarded": "unguard", "csv_row": "guard_row", "csv_table": "encode_table"},
    "_files": {"write_whole": "write_atomically"},
    "measures": {"rescaled": "rescale", "centred": "centre_cloud"},
    "_push_forward": {"moved_picture": "move_picture"},
    "_cdt": {"ascending": "enforce_ascending", "checked_bins": "check_bins"},
    "_rcdt": {"trimmed_levels": "choose_levels"},
    "_bright_paper": {"on_paper": "is_ink_on_paper", "warn_of_paper": "warn_about_paper"},
}
DOTTED = [  # regular expressions that are safe anywhere
    *((rf"\b_validation\.{old}\b", f"_validation.{new}") for old, new in VALIDATION.items()),
    (r"\balone=True\b", "allow_string=True"),
    (r"\b_threads\.n_workers\b", "_threads.count_workers"), (r"\b_threads\.n_threads\b", "_threads.count_threads"),
    (r'(setattr\(_threads, )"n_workers"', r'\1"count_workers"'),
    (r"\b_threads\.WORTH_A_THREAD\b", "_threads.WORK_PER_THREAD"),
    (r"\b_kernels\.describe\b", "_kernels.identify"), (r"`_kernels\.missing`", "`_kernels.explain_missing`"),
    (r"\b_kernels\.SLOWER\b", "_kernels.NUMPY_SLOWDOWN"), (r"\b_kernels\.missing\(", "_kernels.explain_missing("),
    (r"\b(cli\.\w+\.)write_whole\b", r"\1write_atomically"), (r"`write_whole`", "`write_atomically`"),
    (r"_threads\.WORTH_A_THREAD", "_threads.WORK_PER_THREAD"),
    (r"\bBatch\.of_one\b", "Batch.read_one"),
]
MOVED = {  # module: {name that moved: new module}
    "_rcdt": {
        **dict.fromkeys(("POOLS", "POOLS_OF_EXTREMES", "WHITENED_POOLS", "SAMPLED_POOLS", "N_COMPONENTS", "check_pool",
                         "choose_directions", "pooled_nrcdt", "max_nrcdt", "mean_nrcdt"), "_pooling"),
        **dict.fromkeys(("DIRECTIONS", "Normalisation"), "_plan"),
    },
    "measures": dict.fromkeys(("push_forward", "move_picture", "moved_picture"), "_push_forward"),
    "matching.registration": {"square_root": "_geometry"},
    "matching.alignment": {"square_root": "_geometry"},
    "catalogue.thumbnails": {"ink_box": "_geometry"},
}

def split_import(module, match):
    """`from radoncdt.module import a, b`: names that moved come from their new module."""
    names = [n.strip() for n in match[1].strip("()").replace("\n", " ").split(",") if n.strip()]
    homes = {}
    for name in names:
        homes.setdefault(MOVED[module].get(name.split()[0], module), []).append(name)
    if list(homes) == [module]:
        return match[0]
    return "".join(f"from radoncdt.{home} import {', '.join(some)}\n" for home, some in sorted(homes.items()))

def renamed(path, text):
    for old, new in DOTTED:
        text = re.sub(old, new, text)
    for module in MOVED if path.name not in ("_rcdt.py", "_pooling.py", "_plan.py", "_push_forward.py") else ():
        pattern = rf"^from radoncdt\.{re.escape(module)} import (\([^)]*\)|[^\n]*)\n"
        text = re.sub(pattern, lambda match, module=module: split_import(module, match), text, flags=re.M)
    for module, names in IMPORTED.items():
        pattern = rf"^( *)from radoncdt\.{module} import (\([^)]*\)|[^\n]*)$"
        used = {old: new for m in re.finditer(pattern, text, re.M) for old, new in names.items() if re.search(rf"\b{old}\b", m[2])}
        for old, new in used.items():
            text = re.sub(pattern, lambda m: re.sub(rf"\b{old}\b", new, m[0]) , text, flags=re.M)
            text = re.sub(rf"(?<![\w.\"'`]){old}(?=[(,)\]])(?!=)", new, text)
            text = re.sub(rf"`{old}`", f"`{new}`", text)
            if old.startswith("MOST"):
                text = re.sub(rf"\b{old}\b", new, text)
    return text

def use_ink_box(path, text):
    """Remove the bounding boxes of the rooms catalogue and ink in favour of `_geometry.ink_box`."""
    if path.name == "thumbnails.py":
        text = re.sub(r"def ink_box\(.*?\n\n\n", "", text, flags=re.S).replace('"ink_box", ', "")
    if path.name == "extraction.py" and "def _bounding_box" in text:
        text = re.sub(r"def _bounding_box\(.*?\n\n\n", "", text, flags=re.S).replace("_bounding_box(", "ink_box(")
        text = re.sub(r"^from radoncdt\.", "from radoncdt._geometry import ink_box\nfrom radoncdt.", text, count=1, flags=re.M)
    return text

if __name__ == "__main__":
    root = Path(sys.argv[1])
    for folder in ("src", "tests", "benchmarks", "examples", "tools", "conftest.py"):
        for path in [root / folder] if folder.endswith(".py") else sorted((root / folder).rglob("*.py")):
            text = path.read_text()
            new = use_ink_box(path, renamed(path, text))
            if new != text:
                path.write_text(new)
                print(path.relative_to(root))
