//go:build !unix || solaris || aix || android

package segments

import "os"

// CanUnlock says that the lock of a file that is open can be let go and taken again. Here only closing the file does.
const CanUnlock = false

func lockShared(*os.File) error { return nil }

// LockExclusive has nothing to do here, as Unlock and AwaitExclusive have not.
func LockExclusive(*os.File) error { return nil }
func Unlock(*os.File) error        { return nil }
func AwaitExclusive(*os.File)      {}
