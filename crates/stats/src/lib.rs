//! Pure arithmetic of a run: quantiles, bounds, verdict, sampling phase.
