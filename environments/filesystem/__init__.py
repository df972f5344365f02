"""A team's shared drive: folders, files, shares and the manifests that backup and release jobs wrote about them."""
