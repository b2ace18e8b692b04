package segments

import (
	"errors"
	"time"
)

// ReadersPause is how long readers release a file, so that a recorder can start.
const ReadersPause = time.Millisecond

// ErrLocked means that another process has the file open for writing, or reads it while this process needs to write.
var ErrLocked = errors.New("held by another process")
