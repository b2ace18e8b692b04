//go:build unix && peers

package main

// kills is how many recorders TestKilledRecorderIsSaid kills.
const kills = 50
