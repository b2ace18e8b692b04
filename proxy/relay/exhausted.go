package relay

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// Exhausted returns what to tell the user if an error says that this machine gives us no more descriptors; "" if it
// does not.
func Exhausted(err error) string {
	switch {
	case isErrno(err, syscall.EMFILE):
		limit := ""
		if n := openFileLimit(); n > 0 {
			limit = fmt.Sprintf(" (%d open files)", n)
		}
		return "this machine allows a2atap no more connections" + limit + "; raise ulimit -n"
	case isErrno(err, syscall.ENFILE):
		return "this machine allows no more connections (its table of open files is full); close other programs, or " +
			"raise its limit"
	}
	return ""
}

// isErrno reports whether an error comes from one of the system. Those of a resolver keep only its text.
func isErrno(err error, number syscall.Errno) bool {
	var dns *net.DNSError
	return errors.Is(err, number) || errors.As(err, &dns) && strings.Contains(dns.Err, number.Error())
}
