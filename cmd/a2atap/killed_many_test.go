//go:build unix && peers

package main

// kills is how many recorders TestKilledRecorderIsSaid kills.
const kills = 30

// thorough says whether tests that take long try all of their cases, or the most telling ones.
const thorough = true
