"""What dehusk survives: kills, power cuts, failing disks, no memory, damaged files, long runs."""
