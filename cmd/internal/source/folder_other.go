//go:build !unix

package source

// fleetFolders is the pattern of folders that store data read from streams.
const fleetFolders = "a2atap-fleet-*"

func holdFolder(string) (release func(), err error) { return func() {}, nil }

func removeLeftFolders() {}
