"""A line on stderr when kernels are compiled, which happens once on every machine."""

from collections.abc import Callable


def announce_compiling(say: Callable[[str], None]) -> None:
    """Call `say` with a message, once, when numba begins to compile; kernels in numba's cache are not compiled."""
    from numba.core import event

    said = False

    class Announcement(event.Listener):
        def on_start(self, event: object) -> None:
            nonlocal said
            if not said:
                said = True
                say("compiling kernels, about 30 s, once")

        def on_end(self, event: object) -> None:
            pass

    event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]
