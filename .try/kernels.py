import numpy
import perfgate

@perfgate.workload(n=[2**16, 2**20], dtype=["f32"], variants={"ufunc": "host", "loop": "host"})
def add(n, dtype, seed, variant):
    """Sum of two vectors."""
    x, y = (perfgate.uniform(n, dtype, seed + i) for i in (0, 1))
    out = numpy.empty_like(x)
    if variant == "ufunc":
        launch = lambda: numpy.add(x, y, out=out)
    else:
        def launch():
            for at in range(0, n, 4096):
                out[at:at + 4096] = x[at:at + 4096] + y[at:at + 4096]
    return perfgate.Case(launch=launch, outputs=[out], reference=lambda: x.astype("f8") + y,
                         rtol=1e-6, bytes=3 * x.nbytes)
