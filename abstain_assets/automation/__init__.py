"""What runs without being asked: the sensor on `models/`, the weekly fresh round, and the jobs they launch."""
