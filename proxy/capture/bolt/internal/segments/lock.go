package segments

import (
	"errors"
	"time"
)

// ReadersPause is the moment for which readers let go of a file, so that a recorder can start.
const ReadersPause = time.Millisecond

// ErrLocked means that another process has the file open for writing, or reads it while this one wants to write.
var ErrLocked = errors.New("held by another process")
