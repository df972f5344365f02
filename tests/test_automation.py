"""What the sensor decides, and on what it bases it: on a real instance, without a server."""
