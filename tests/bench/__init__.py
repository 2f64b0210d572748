"""Speed, as ratios to JAX's own work in the same process; never asserted in seconds."""
