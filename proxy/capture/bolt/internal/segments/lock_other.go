//go:build !unix || solaris || aix || android

package segments

import "os"

// CanUnlock reports that the lock of an open file cannot be released without closing the file.
const CanUnlock = false

func lockShared(*os.File) error { return nil }

// LockExclusive has nothing to do here, as Unlock and AwaitExclusive have not.
func LockExclusive(*os.File) error { return nil }
func Unlock(*os.File) error        { return nil }
func AwaitExclusive(*os.File)      {}
