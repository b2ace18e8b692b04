package credential

import (
	"strings"
	"unicode/utf8"
)

// Member reports whether a JSON member with that name, given without its quotes, has a secret in any object. It decides
// by the end of the name, so tokenUrl, token_type and secretary have none. It ignores "_", "-" and "." in the name, and
// the plural. Tokens that lead to the next page, or are tokens in name only, are not secrets.
//
// Source: RFC 6749 sections 4, 5 and 6 (OAuth), RFC 7591 section 3.2.1, RFC 7636, RFC 8628, RFC 8693, OpenID Connect
// Core section 3.1.3.3; the other names are those that people give.
func Member[T string | []byte](name T) bool {
	if !mayEnd(name) {
		return false
	}
	var short normalised
	normal, _ := normalise(&short, name[max(0, len(name)-len(short)):]) // no ending is nearly as long
	for _, c := range normal {
		if c >= utf8.RuneSelf {
			normal = []byte(Normal(string(name)))
			break
		}
	}
	if n := len(normal) - 1; n > 0 && normal[n] == 's' {
		normal = normal[:n]
	}
	for _, ending := range memberEndings {
		if len(normal) >= len(ending) && string(normal[len(normal)-len(ending):]) == ending {
			return !publicMembers[string(normal)]
		}
	}
	return false
}

// PasswordMember reports whether a member that holds a secret is a password, which may be a number.
func PasswordMember[T string | []byte](name T) bool {
	normal := strings.TrimSuffix(Normal(string(name)), "s")
	for _, ending := range [...]string{"password", "passwd", "pwd", "passcode"} {
		if strings.HasSuffix(normal, ending) {
			return true
		}
	}
	return false
}

// memberEndings are the normalized endings of names with a secret.
var memberEndings = strings.Fields("token secret password passwd pwd passphrase passcode credential cookie jwt " +
	"authorization apikey secretkey privatekey accesskey signingkey encryptionkey masterkey sharedkey authkey " +
	"accountkey subscriptionkey clientassertion devicecode codeverifier")

// publicMembers end like members with a secret, but have none.
var publicMembers = setOf("pagetoken nextpagetoken prevpagetoken previouspagetoken nexttoken continuationtoken " +
	"synctoken " +
	"nextsynctoken resumetoken progresstoken cancellationtoken stoptoken eostoken bostoken padtoken unktoken septoken " +
	"masktoken clstoken maxtoken")

func setOf(names string) map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// mayEnd reports whether a name could end like a secret's, by its last two letters: nearly all names are decided here.
func mayEnd[T string | []byte](name T) bool {
	end := len(name)
	for range 2 { // the second time without the plural
		last, before := byte(0), byte(0)
		for end > 0 && separates(name[end-1]) {
			end--
		}
		if end > 0 {
			last = lower(name[end-1])
			end--
		}
		at := end
		for at > 0 && separates(name[at-1]) {
			at--
		}
		if at > 0 {
			before = lower(name[at-1])
		}
		if last >= utf8.RuneSelf || before >= utf8.RuneSelf || memberLetters[last][before] {
			return true
		}
		if last != 's' {
			return false
		}
	}
	return false
}

// memberLetters are the last letters of memberEndings, and those before them.
var memberLetters = func() (all [utf8.RuneSelf][utf8.RuneSelf]bool) {
	for _, ending := range memberEndings {
		all[ending[len(ending)-1]][ending[len(ending)-2]] = true
	}
	return all
}()
