package auth

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"golang.org/x/oauth2"

	"a2atap/proxy/hostname"
)

var errorCode = regexp.MustCompile(`^[a-z_]{1,40}$`)

// plain strips the server's text from an error of the library, since it may repeat the request.
func plain(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := 0
		if refused.Response != nil {
			status = refused.Response.StatusCode
		}
		if errorCode.MatchString(refused.ErrorCode) {
			return fmt.Errorf("the request was refused: %s (HTTP %d)", refused.ErrorCode, status)
		}
		return fmt.Errorf("the request was refused (HTTP %d)", status)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return errors.New("the answer is not a token")
}

// shown returns a URL for a message: without user information, query and fragment.
func shown(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return "a URL that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// checkTokenURL reports whether a secret may be sent to a URL: https, or http on this machine.
func checkTokenURL(at string) error {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "":
		return errors.New("it is not the URL of a token server")
	case u.Scheme == "https", u.Scheme == "http" && hostname.IsLoopback(hostname.Normal(u.Hostname())):
		return nil
	}
	return fmt.Errorf("%s is not https, so secrets would be sent unencrypted", shown(at))
}
