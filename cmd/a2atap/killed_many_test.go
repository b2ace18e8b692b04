//go:build unix && peers

package main

// kills is how many recorders TestKilledRecorderIsSaid kills.
const kills = 50

// everyBody says whether TestMemoryHasACeiling has all of its bodies, or the worst.
const everyBody = true
