"""What people do with factored matrices and sketches."""
