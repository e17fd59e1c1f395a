"""Motifs of watermarks as lines, which `watermarks` combines. Their proportions are random.

A motif is a list of parts and a part is a list of lines, in a frame of about [−1, 1]², x to the right and y up.
"""

from collections.abc import Callable

import numpy as np

from radoncdt.datasets.lines import Line, bezier

__all__ = ["MOTIFS", "REACH", "Part", "compose"]

Random = np.random.Generator
Part = tuple[Line, ...]
Points = list[tuple[float, float]]

REACH = 0.68
"""Distance of the farthest point of a mark from the middle of the frame."""

LETTERS: dict[str, list[Points]] = {
    "A": [[(-0.5, -0.5), (0, 0.5), (0.5, -0.5)], [(-0.3, -0.1), (0.3, -0.1)]],
    "B": [
        [(-0.4, -0.5), (-0.4, 0.5), (0.2, 0.45), (0.3, 0.25), (0.2, 0.05), (-0.4, 0.05)],
        [(0.2, 0.05), (0.4, -0.2), (0.2, -0.5), (-0.4, -0.5)],
    ],
    "C": [[(0.4, 0.35), (0.1, 0.5), (-0.3, 0.35), (-0.45, 0), (-0.3, -0.35), (0.1, -0.5), (0.4, -0.35)]],
    "D": [[(-0.4, -0.5), (-0.4, 0.5), (0.15, 0.45), (0.42, 0), (0.15, -0.45), (-0.4, -0.5)]],
    "E": [[(0.35, 0.5), (-0.35, 0.5), (-0.35, -0.5), (0.35, -0.5)], [(-0.35, 0), (0.2, 0)]],
    "F": [[(0.35, 0.5), (-0.35, 0.5), (-0.35, -0.5)], [(-0.35, 0), (0.2, 0)]],
    "G": [[(0.4, 0.35), (0, 0.5), (-0.42, 0.1), (-0.3, -0.4), (0.1, -0.5), (0.4, -0.3), (0.4, -0.05), (0.1, -0.05)]],
    "H": [[(-0.4, 0.5), (-0.4, -0.5)], [(0.4, 0.5), (0.4, -0.5)], [(-0.4, 0), (0.4, 0)]],
    "I": [[(0, 0.5), (0, -0.5)], [(-0.2, 0.5), (0.2, 0.5)], [(-0.2, -0.5), (0.2, -0.5)]],
    "K": [[(-0.4, 0.5), (-0.4, -0.5)], [(0.4, 0.5), (-0.4, 0), (0.4, -0.5)]],
    "L": [[(-0.35, 0.5), (-0.35, -0.5), (0.4, -0.5)]],
    "M": [[(-0.5, -0.5), (-0.4, 0.5), (0, -0.2), (0.4, 0.5), (0.5, -0.5)]],
    "N": [[(-0.4, -0.5), (-0.4, 0.5), (0.4, -0.5), (0.4, 0.5)]],
    "P": [[(-0.4, -0.5), (-0.4, 0.5), (0.2, 0.45), (0.38, 0.22), (0.2, 0), (-0.4, -0.05)]],
    "R": [[(-0.4, -0.5), (-0.4, 0.5), (0.2, 0.45), (0.38, 0.22), (0.2, 0), (-0.4, -0.05)], [(0, -0.02), (0.42, -0.5)]],
    "S": [[(0.35, 0.4), (0, 0.5), (-0.32, 0.3), (0, 0.03), (0.34, -0.25), (0, -0.5), (-0.38, -0.38)]],
    "T": [[(-0.45, 0.5), (0.45, 0.5)], [(0, 0.5), (0, -0.5)]],
    "V": [[(-0.45, 0.5), (0, -0.5), (0.45, 0.5)]],
    "W": [[(-0.5, 0.5), (-0.25, -0.5), (0, 0.3), (0.25, -0.5), (0.5, 0.5)]],
    "X": [[(-0.4, 0.5), (0.4, -0.5)], [(0.4, 0.5), (-0.4, -0.5)]],
    "Z": [[(-0.4, 0.5), (0.4, 0.5), (-0.4, -0.5), (0.4, -0.5)]],
}


def compose(random: Random) -> tuple[str, tuple[Part, ...]]:
    """Compose a mark: the name of its motif, and its parts. A frame, a crest and initials may be added."""
    name = str(random.choice(list(MOTIFS)))
    parts = list(_place(MOTIFS[name](random), random.uniform(0.9, 1.1), 1, 0, 0))
    low, high = _extent(parts)
    if random.random() < 0.35:
        middle, reach = (low + high) / 2, float(np.linalg.norm(high - low) / 2)
        reach *= random.uniform(1.05, 1.15)
        frame = FRAMES[random.integers(len(FRAMES))](random)
        parts += [tuple(reach * line + middle for line in part) for part in frame]
        low, high = _extent(parts)
    if random.random() < 0.45:
        crest = CRESTS[random.integers(len(CRESTS))]
        size, stem = random.uniform(0.25, 0.45), random.uniform(0.1, 0.5)
        parts.append((_line((0, high[1]), (0, high[1] + stem)),))
        parts.append(
            tuple(line for part in _place(crest(random), size, size, 0, high[1] + stem + size) for line in part)
        )
        low, high = _extent(parts)
    if random.random() < 0.4 and name != "letters":
        size = random.uniform(0.3, 0.5)
        parts += _place(_initials(random), size, size, random.uniform(-0.15, 0.15), low[1] - size * 0.8)
    low, high = _extent(parts)
    corners = np.concatenate([line for part in parts for line in part]) - (low + high) / 2
    scale = REACH / np.linalg.norm(corners, axis=1).max()
    return name, tuple(tuple(scale * (line - (low + high) / 2) for line in part) for part in parts)


def _extent(parts: list[Part]) -> tuple[Line, Line]:
    corners = np.concatenate([line for part in parts for line in part])
    return corners.min(axis=0), corners.max(axis=0)


def _place(parts: list[Part], width: float, height: float, x: float, y: float) -> list[Part]:
    return [tuple(line * [width, height] + [x, y] for line in part) for part in parts]


def _line(*corners: tuple[float, float]) -> Line:
    return np.array(corners, float)


def _arc(x: float, y: float, width: float, height: float, first: float = 0, last: float = 360) -> Line:
    angles = np.deg2rad(np.linspace(first, last, max(8, int(48 * abs(last - first) / 360)) + 1))
    return np.stack([x + width * np.cos(angles), y + height * np.sin(angles)], axis=-1)


def _smooth(corners: Points | Line, *, closed: bool = False) -> Line:
    """A smooth curve through places: Bézier pieces whose tangents are parallel to the chord of the neighbours."""
    p = np.asarray(corners, float)
    before, behind = np.roll(p, 1, axis=0), np.roll(p, -1, axis=0)
    if not closed:
        before[0], behind[-1] = p[0], p[-1]
    handles = (behind - before) / 6
    n = len(p) if closed else len(p) - 1
    pieces = [
        bezier(p[i], p[i] + handles[i], p[j] - handles[j], p[j], n=9)
        for i, j in ((i, (i + 1) % len(p)) for i in range(n))
    ]
    return np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])])


def _both(line: Line) -> Part:
    """A line and its mirror image."""
    return line, line * [-1, 1]


def _initials(random: Random) -> list[Part]:
    names = random.choice(list(LETTERS), random.integers(1, 4), replace=False)
    lean, width, gap = random.uniform(-0.15, 0.15), random.uniform(0.7, 1.1), random.uniform(1.0, 1.3)
    parts = []
    for k, name in enumerate(names):
        smooth = name in "BCDGPRS" and random.random() < 0.7
        lines = [_smooth(points) if smooth else _line(*points) for points in LETTERS[name]]
        offset = (k - (len(names) - 1) / 2) * gap
        parts.append(tuple(line @ [[width, 0], [lean, 1]] + [offset, 0] for line in lines))
    return parts


def _letters(random: Random) -> list[Part]:
    parts = _initials(random)
    rule = random.uniform(0.65, 0.85)
    return [*parts, (_line((-0.8, -rule), (0.8, -rule)),) if random.random() < 0.5 else (_arc(0, -rule, 0.1, 0.1),)]


def _crown(random: Random) -> list[Part]:
    points, height, spread = int(random.integers(3, 8)), random.uniform(0.5, 1.1), random.uniform(1.0, 1.4)
    low, band, dip = -0.6, random.uniform(0.12, 0.3), random.uniform(0.2, 0.6)
    x = np.linspace(-spread, spread, points)
    tops = low + band + height * (1 + random.uniform(-0.3, 0.3) * (1 - (x / spread) ** 2))
    profile = [(-0.8, low + band)]
    for k in range(points):
        profile.append((x[k], tops[k]))
        if k < points - 1:
            profile.append(((x[k] + x[k + 1]) / 2 * 0.9, low + band + height * dip))
    profile.append((0.8, low + band))
    ball = random.uniform(0.05, 0.12)
    base = _line((-0.8, low + band), (-0.8, low), (0.8, low), (0.8, low + band), (-0.8, low + band))
    gems = [_arc(g, low + band / 2, band / 4, band / 4) for g in np.linspace(-0.6, 0.6, int(random.integers(1, 6)))]
    return [(base,), (_line(*profile),), tuple(_arc(a, b + ball, ball, ball) for a, b in zip(x, tops)), tuple(gems)]


def _star(random: Random) -> list[Part]:
    rays, inner, turn = int(random.integers(4, 10)), random.uniform(0.3, 0.65), random.uniform(0, 2 * np.pi)
    angles = turn + np.pi * np.arange(2 * rays + 1) / rays
    radii = np.where(np.arange(2 * rays + 1) % 2, inner, 1.0)
    outline = np.stack([radii * np.sin(angles), radii * np.cos(angles)], axis=-1)
    if random.random() < 0.4:
        outline = _smooth(outline[:-1], closed=True)
    middle = _arc(
        random.uniform(-0.05, 0.05), random.uniform(-0.05, 0.05), inner * random.uniform(0.3, 0.8), inner * 0.5
    )
    return [(outline,), (middle,)]


def _cross(random: Random) -> list[Part]:
    arm, foot, bar = random.uniform(0.4, 0.8), random.uniform(0.6, 1.2), random.uniform(0, 0.4)
    serif = random.uniform(0.08, 0.2)
    ends = [_line((-serif, 1), (serif, 1)), *_both(_line((arm, bar - serif), (arm, bar + serif)))]
    return [(_line((0, -foot), (0, 1)),), (_line((-arm, bar), (arm, bar)), *ends)]


def _bull(random: Random) -> list[Part]:
    jaw, cheek, brow = random.uniform(0.2, 0.4), random.uniform(0.3, 0.5), random.uniform(0.4, 0.6)
    length = random.uniform(0.7, 1.0)
    face = _smooth(
        [
            (0, 0.3),
            (brow, 0.25),
            (cheek, -0.3 * length),
            (jaw, -length),
            (0, -length - 0.1),
            (-jaw, -length),
            (-cheek, -0.3 * length),
            (-brow, 0.25),
        ],
        closed=True,
    )
    horn = _smooth(
        [
            (brow * 0.5, 0.3),
            (random.uniform(0.7, 1.0), 0.5),
            (random.uniform(0.6, 0.9), 0.8),
            (random.uniform(0.35, 0.7), random.uniform(0.9, 1.2)),
        ]
    )
    ear = _smooth([(brow, 0.2), (random.uniform(0.75, 1), random.uniform(0.05, 0.25)), (brow * 0.95, 0)])
    eye, nose = random.uniform(0.05, 0.1), random.uniform(0.03, 0.07)
    eyes = _both(_arc(random.uniform(0.15, 0.25), random.uniform(-0.1, 0.1), eye, eye * random.uniform(0.6, 1)))
    return [(face,), _both(horn), _both(ear), eyes, _both(_arc(jaw / 2, -length * 0.9, nose, nose))]


def _beast(random: Random) -> list[Part]:
    long, tall = random.uniform(0.7, 0.95), random.uniform(0.25, 0.4)
    back, belly = random.uniform(-0.1, 0.12, 2)
    body = _smooth(
        [
            (-long, 0),
            (-long * 0.5, tall),
            (0, tall + back),
            (long * 0.5, tall),
            (long, 0.1),
            (long * 0.5, -tall),
            (0, -tall + belly),
            (-long * 0.5, -tall),
        ],
        closed=True,
    )
    neck, up = random.uniform(0.9, 1.3), random.uniform(0.4, 0.9)
    snout = random.uniform(0.2, 0.45)
    head = _smooth(
        [
            (long * 0.8, tall * 0.8),
            (neck - 0.1, up),
            (neck + 0.05, up + 0.15),
            (neck + snout, up - 0.05),
            (neck + snout * 0.8, up - 0.2),
            (neck + 0.1, up - 0.25),
            (long, 0.05),
        ]
    )
    legs = []
    for x in (-0.75, -0.5, 0.45, 0.7):
        knee, foot = random.uniform(-0.15, 0.15, 2)
        legs.append(
            _smooth(
                [
                    (x * long, -tall * 0.7),
                    (x * long + knee, -tall - 0.3),
                    (x * long + foot, -tall - random.uniform(0.5, 0.7)),
                    (x * long + foot + 0.12, -tall - 0.68),
                ]
            )
        )
    tail = _smooth(
        [
            (-long, 0.05),
            (-long - random.uniform(0.1, 0.3), random.uniform(-0.2, 0.5)),
            (-long - random.uniform(0.1, 0.5), random.uniform(0.3, 0.9)),
            (-long + random.uniform(-0.5, 0), random.uniform(0.6, 1.1)),
        ]
    )
    parts: list[Part] = [
        (body,),
        (head,),
        tuple(legs[:2]),
        tuple(legs[2:]),
        (tail,),
        (_arc(neck + 0.1, up, 0.04, 0.04),),
    ]
    if random.random() < 0.5:
        horn = _smooth(
            [
                (neck, up + 0.12),
                (neck + random.uniform(-0.1, 0.2), up + 0.5),
                (neck + random.uniform(-0.3, 0.4), up + random.uniform(0.6, 0.9)),
            ]
        )
        parts.append((horn,))
    return parts


def _bird(random: Random) -> list[Part]:
    deep = random.uniform(0.3, 0.5)
    body = _smooth(
        [
            (-0.9, 0.2),
            (-0.3, -deep),
            (0.3, -deep * 0.9),
            (0.7, 0.1),
            (0.6, 0.5),
            (0.75, 0.75),
            (0.55, 0.85),
            (0.35, 0.6),
            (0.1, 0.3),
            (-0.4, 0.25),
        ],
        closed=True,
    )
    wing = _smooth(
        [
            (-0.1, 0.15),
            (-0.5, random.uniform(0.5, 1.1)),
            (-0.2 + random.uniform(-0.3, 0.2), random.uniform(0.6, 1.2)),
            (0.25, 0.1),
        ]
    )
    beak = _line((0.74, 0.8), (random.uniform(0.9, 1.15), random.uniform(0.6, 0.8)), (0.76, 0.66))
    legs = tuple(
        _line((x, -deep * 0.9), (x + random.uniform(-0.1, 0.1), -deep - 0.4), (x + 0.15, -deep - 0.45))
        for x in (-0.1, 0.2)
    )
    tail = tuple(_line((-0.85, 0.2), (-1.2 + random.uniform(-0.1, 0.1), y)) for y in (0.4, 0.15, -0.1))
    return [(body,), (wing,), (beak,), legs, tail, (_arc(0.58, 0.7, 0.04, 0.04),)]


def _fish(random: Random) -> list[Part]:
    deep, bend = random.uniform(0.25, 0.5), random.uniform(-0.2, 0.2)
    body = _smooth(
        [(-0.7, bend), (-0.2, deep), (0.5, deep * 0.8), (0.95, 0), (0.5, -deep * 0.8), (-0.2, -deep + bend)],
        closed=True,
    )
    tail = _line(
        (-0.7, bend),
        (-1.05, bend + random.uniform(0.2, 0.45)),
        (-0.95, bend),
        (-1.05, bend - random.uniform(0.2, 0.45)),
        (-0.7, bend),
    )
    fins = tuple(
        _smooth([(x, deep * 0.8), (x - 0.15, deep + random.uniform(0.15, 0.4)), (x - 0.3, deep * 0.75)])
        for x in (0.3, 0.0)
    )
    gill = _arc(random.uniform(0.3, 0.5), 0, 0.12, deep * 0.7, 100, 260)
    return [(body,), (tail,), fins, (gill,), (_arc(0.68, 0.08, 0.05, 0.05),)]


def _snake(random: Random) -> list[Part]:
    turns, wide = int(random.integers(3, 7)), random.uniform(0.3, 0.7)
    y = np.linspace(-1, 0.8, 2 * turns + 1)
    x = (
        wide
        * np.where(np.arange(y.size) % 2, np.where(np.arange(y.size) % 4 == 1, 1, -1), 0)
        * random.uniform(0.6, 1, y.size)
    )
    top = (x[-1], y[-1])
    head = _arc(top[0], top[1] + 0.12, random.uniform(0.07, 0.14), 0.13)
    tongue = _line((top[0], top[1] + 0.25), (top[0] + random.uniform(-0.2, 0.2), top[1] + random.uniform(0.4, 0.55)))
    return [(_smooth(np.stack([x, y], axis=-1)),), (head,), (tongue,)]


def _anchor(random: Random) -> list[Part]:
    wide, stock, ring = random.uniform(0.5, 0.9), random.uniform(0.25, 0.55), random.uniform(0.1, 0.18)
    arms = _arc(0, -0.2, wide, random.uniform(0.6, 0.8), 190, 350)
    barb = random.uniform(0.12, 0.25)
    barbs = [
        end + np.array([(barb * -side, 0.02), (0, barb), (barb * 0.6 * side, -barb * 0.5)])
        for end, side in ((arms[0], -1), (arms[-1], 1))
    ]
    height = random.uniform(0.35, 0.6)
    return [
        (_line((0, 0.75), (0, arms[:, 1].min())), arms),
        tuple(barbs),
        (_line((-stock, height), (stock, height)),),
        (_arc(0, 0.75 + ring, ring, ring),),
    ]


def _hand(random: Random) -> list[Part]:
    palm, cuff = random.uniform(0.35, 0.45), random.uniform(0.3, 0.5)
    lengths = random.uniform(0.45, 0.8, 4)
    edge: Points = [(-palm, -0.6), (-palm, 0)]
    for k, length in enumerate(lengths):
        left, right = (-palm + 2 * palm * (k + s) / 4 for s in (0.08, 0.92))
        fan = (k - 1.5) * random.uniform(0.03, 0.1)
        edge += [
            (left, 0.05),
            (left + fan, length),
            ((left + right) / 2 + fan, length + 0.08),
            (right + fan, length),
            (right, 0.05),
        ]
    thumb = _smooth(
        [(palm, 0), (palm + 0.25, random.uniform(0, 0.3)), (palm + random.uniform(0.3, 0.45), 0.1), (palm, -0.35)]
    )
    edge += [(palm, 0)]
    sleeve = _line((-palm, -0.6), (-cuff - 0.1, -0.95), (cuff + 0.1, -0.95), (palm, -0.6), (-palm, -0.6))
    return [(_line(*edge),), (thumb, _line((palm, -0.35), (palm, -0.6))), (sleeve,)]


def _jug(random: Random) -> list[Part]:
    belly, neck, lip = random.uniform(0.45, 0.65), random.uniform(0.15, 0.3), random.uniform(0.25, 0.4)
    foot = random.uniform(0.2, 0.4)
    side = _smooth([(foot, -0.9), (belly * 0.7, -0.6), (belly, -0.1), (neck, 0.4), (lip, 0.7)])
    handles = [
        _smooth(
            [
                (neck, 0.4),
                (random.uniform(0.6, 0.9), random.uniform(0.3, 0.6)),
                (random.uniform(0.65, 0.9), 0),
                (belly * 0.95, -0.15),
            ]
        )
    ]
    if random.random() < 0.5:
        handles.append(handles[0] * [-1, 1])
    rims = _line((-foot, -0.9), (foot, -0.9)), _arc(0, 0.7, lip, random.uniform(0.04, 0.12))
    bands = tuple(_line((-w, y), (w, y)) for w, y in ((belly * 0.97, random.uniform(-0.2, 0)), (belly * 0.9, -0.35)))
    return [(*_both(side), *rims), tuple(handles), bands]


def _grapes(random: Random) -> list[Part]:
    rows, ball = int(random.integers(3, 6)), random.uniform(0.11, 0.15)
    berries = []
    for k in range(rows):
        for x in np.arange(rows - k) - (rows - k - 1) / 2:
            a, b = random.uniform(-0.02, 0.02, 2)
            berries.append(_arc(2 * ball * x + a, 0.4 - 1.8 * ball * k + b, ball, ball))
    stem = _smooth([(0, 0.45), (random.uniform(-0.1, 0.1), 0.7), (random.uniform(-0.3, 0.3), 0.95)])
    leaf = _smooth(
        [(0, 0.6), (random.uniform(0.2, 0.4), random.uniform(0.6, 1)), (random.uniform(0.4, 0.7), 0.6), (0.2, 0.5)],
        closed=True,
    )
    return [tuple(berries), (stem,), (leaf,)]


def _bell(random: Random) -> list[Part]:
    mouth, top, ring = random.uniform(0.6, 0.8), random.uniform(0.2, 0.35), random.uniform(0.08, 0.15)
    side = _smooth([(top, 0.6), (top + 0.1, 0), (mouth * 0.75, -0.4), (mouth, -0.65)])
    rim, clapper = _arc(0, -0.65, mouth, random.uniform(0.05, 0.15)), random.uniform(0.08, 0.14)
    bands = tuple(
        _line((-top - w, y), (top + w, y))
        for w, y in ((0.05, random.uniform(0.2, 0.4)), (0.12, random.uniform(-0.1, 0.1)))
    )
    dome = _arc(0, 0.6, top, random.uniform(0.1, 0.2), 0, 180)
    return [
        (*_both(side), rim, dome),
        (_arc(random.uniform(-0.1, 0.1), -0.8, clapper, clapper),),
        (_arc(0, 0.75 + ring, ring, ring),),
        bands,
    ]


def _scales(random: Random) -> list[Part]:
    arm, drop, pan = random.uniform(0.6, 0.9), random.uniform(0.6, 0.9), random.uniform(0.25, 0.4)
    tilt = random.uniform(-0.15, 0.15)
    pans = []
    for side in (-1, 1):
        x, y = side * arm, 0.5 + side * tilt
        low = y - drop
        pans.append(
            (
                _line((x - pan, low), (x, y), (x + pan, low)),
                _arc(x, low, pan, random.uniform(0.1, 0.3), 180, 360),
                _line((x - pan, low), (x + pan, low)),
            )
        )
    ring = random.uniform(0.08, 0.14)
    post = (_line((-arm, 0.5 - tilt), (arm, 0.5 + tilt)), _line((0, 0.5), (0, 0.8)), _arc(0, 0.8 + ring, ring, ring))
    tongue = _line((-0.08, 0.5), (0, random.uniform(0.2, 0.35)), (0.08, 0.5))
    return [post, *pans, (tongue,)]


def _tower(random: Random) -> list[Part]:
    wide, height, teeth = random.uniform(0.4, 0.6), random.uniform(0.4, 0.7), int(random.integers(3, 6))
    walls = _line((-wide, height), (-wide, -0.9), (wide, -0.9), (wide, height))
    edge: Points = []
    for k in range(teeth):
        left, right = (-wide * 1.2 + 2.4 * wide * (2 * k + s) / (2 * teeth - 1) for s in (0, 1))
        edge += [(left, height), (left, height + 0.2), (right, height + 0.2), (right, height)]
    gate = random.uniform(0.12, 0.22)
    door = _line((-gate, -0.9), (-gate, -0.5)), _arc(0, -0.5, gate, gate, 0, 180), _line((gate, -0.5), (gate, -0.9))
    windows = tuple(
        _arc(x, random.uniform(0, 0.3), 0.07, 0.1) for x in np.linspace(-wide / 2, wide / 2, int(random.integers(1, 4)))
    )
    return [(walls,), (_line(*edge),), door, windows]


def _lily(random: Random) -> list[Part]:
    wide, high = random.uniform(0.15, 0.3), random.uniform(0.8, 1.0)
    petal = _smooth([(0, -0.2), (wide, 0.3), (0, high), (-wide, 0.3)], closed=True)
    curl = _smooth(
        [
            (0.05, -0.2),
            (random.uniform(0.35, 0.5), random.uniform(0.4, 0.6)),
            (random.uniform(0.65, 0.85), 0.4),
            (random.uniform(0.7, 0.85), 0.1),
            (random.uniform(0.5, 0.65), random.uniform(0, 0.15)),
        ]
    )
    foot = _smooth([(0.05, -0.3), (random.uniform(0.2, 0.3), -0.6), (random.uniform(0.3, 0.5), -0.75)])
    band = random.uniform(0.25, 0.4)
    return [
        (petal,),
        _both(curl),
        (*_both(foot), _line((0, -0.3), (0, random.uniform(-1, -0.8)))),
        (_line((-band, -0.22), (band, -0.22)), _line((-band, -0.32), (band, -0.32))),
    ]


def _heart(random: Random) -> list[Part]:
    lobe, dip = random.uniform(0.45, 0.6), random.uniform(0.2, 0.45)
    half = _smooth(
        [
            (0, dip),
            (lobe * 0.6, 0.75),
            (random.uniform(0.75, 0.95), 0.4),
            (lobe, -0.2),
            (0, random.uniform(-0.95, -0.8)),
        ]
    )
    arrow = _line((-1, random.uniform(-0.3, 0.1)), (1, random.uniform(0, 0.4)))
    tip = arrow[1]
    return [
        _both(half),
        (arrow, tip + np.array([(-0.15, 0.08), (0, 0), (-0.12, -0.14)])),
        (_arc(random.uniform(-0.2, 0.2), 0.1, 0.12, random.uniform(0.08, 0.2)),),
    ]


def _key(random: Random) -> list[Part]:
    bow, teeth = random.uniform(0.25, 0.4), int(random.integers(2, 5))
    ring = (
        _arc(0, 0.7, bow, bow * random.uniform(0.7, 1.1)),
        _arc(random.uniform(-0.05, 0.05), 0.7, bow * 0.5, bow * 0.45),
    )
    shaft = _line((0, 0.7 - bow), (0, -1))
    bits = tuple(
        _line((0, y), (random.uniform(0.2, 0.45), y)) for y in np.linspace(-0.95, random.uniform(-0.6, -0.4), teeth)
    )
    return [ring, (shaft,), bits]


def _moon(random: Random) -> list[Part]:
    gap, turn, deep = random.uniform(35, 60), random.uniform(-40, 40), random.uniform(0.5, 0.9)
    outer = _arc(0, 0, 1, 1, turn + gap, turn + 360 - gap)
    towards = np.array([np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))])
    first, last = outer[0], outer[-1]
    edge = bezier(first, 0.7 * first - deep * towards, 0.7 * last - deep * towards, last, n=25)
    x, y = -0.8 * towards + random.uniform(-0.05, 0.05, 2)
    eye = _arc(x, y, 0.06, 0.06)
    return [(outer, edge), (eye,)]


def _flower(random: Random) -> list[Part]:
    petals, inner = int(random.integers(4, 9)), random.uniform(0.15, 0.3)
    wide, turn = random.uniform(0.6, 0.95) * np.pi / petals, random.uniform(0, 2 * np.pi)
    leaves = []
    for k in range(petals):
        a = turn + 2 * np.pi * k / petals
        places = [
            (inner, -wide * 0.3),
            (random.uniform(0.6, 0.75), -wide),
            (1.0, 0),
            (random.uniform(0.6, 0.75), wide),
            (inner, wide * 0.3),
        ]
        leaves.append(_smooth([(r * np.cos(a + b), r * np.sin(a + b)) for r, b in places]))
    stalk = _smooth([(0, -1), (random.uniform(-0.2, 0.2), -1.4), (random.uniform(-0.4, 0.4), -1.8)])
    leaf = _smooth([stalk[len(stalk) // 2].tolist(), (random.uniform(0.3, 0.6), -1.2), (0.25, -1.5)], closed=True)
    return [tuple(leaves), (_arc(0, 0, inner, inner),), (stalk,), (leaf,)]


def _frame_circle(random: Random) -> list[Part]:
    ring = (_arc(0, 0, 1, 1),)
    return [ring] if random.random() < 0.5 else [ring, (_arc(0, 0, *([random.uniform(1.08, 1.2)] * 2)),)]


def _frame_shield(random: Random) -> list[Part]:
    top, deep = random.uniform(0.8, 1.0), random.uniform(1.2, 1.5)
    side = bezier((0.95, top), (1.05, -0.4), (random.uniform(0.3, 0.6), -0.9), (0, -deep), n=25)
    return [(*_both(side), _line((-0.95, top), (0.95, top)))]


def _frame_lozenge(random: Random) -> list[Part]:
    wide, high = random.uniform(1.25, 1.5), random.uniform(1.25, 1.6)
    return [(_line((0, high), (wide, 0), (0, -high), (-wide, 0), (0, high)),)]


MOTIFS: dict[str, Callable[[Random], list[Part]]] = {
    "anchor": _anchor,
    "beast": _beast,
    "bell": _bell,
    "bird": _bird,
    "bull": _bull,
    "crown": _crown,
    "fish": _fish,
    "flower": _flower,
    "grapes": _grapes,
    "hand": _hand,
    "heart": _heart,
    "jug": _jug,
    "key": _key,
    "letters": _letters,
    "lily": _lily,
    "moon": _moon,
    "scales": _scales,
    "snake": _snake,
    "star": _star,
    "tower": _tower,
}
"""The functions that draw the motifs, by name."""

FRAMES = (_frame_circle, _frame_circle, _frame_shield, _frame_lozenge)
CRESTS = (_star, _cross, _crown, _flower, _moon, _lily)
