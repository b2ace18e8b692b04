//go:build !unix

package bolt

import "errors"

func limitFileSize(string) (restore func() error, err error) {
	return nil, errors.ErrUnsupported
}
