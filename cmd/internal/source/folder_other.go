//go:build !unix

package source

// fleetFolders is the pattern of folders in which what is read of streams is kept.
const fleetFolders = "a2atap-fleet-*"

func holdFolder(string) (release func(), err error) { return func() {}, nil }

func removeLeftFolders() {}
