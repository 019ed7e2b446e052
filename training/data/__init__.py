"""From episode folders to training batches."""
