package ca

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf16"
)

// TrustStorePassword opens a trust store of WriteTrustStore. It is not a secret: it only finds damage.
const TrustStorePassword = "changeit"

// WriteTrustStore is WriteBundle for Java: the same authorities in a JKS key store, since Java does not read PEM. All
// versions of Java read it.
func (a *Authority) WriteTrustStore(name string, further ...string) error {
	list := a.trusted(further)
	if err := replaceFile(name, trustStore(list.certificates, a.now())); err != nil {
		return fmt.Errorf("write the trust store for Java: %w", err)
	}
	return list.err()
}

// The parts of a Java key store: a mark, the version, and the number of entries; for each entry its kind, alias, time,
// and certificate; at the end a digest of everything before, and of the password. Numbers are big-endian.
const (
	trustStoreMark    = 0xfeedfeed
	trustStoreVersion = 2
	trustedEntry      = 2
	trustStoreSalt    = "Mighty Aphrodite" // as Java itself has it
)

func trustStore(certificates [][]byte, now time.Time) []byte {
	b := binary.BigEndian.AppendUint32(nil, trustStoreMark)
	b = binary.BigEndian.AppendUint32(b, trustStoreVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(len(certificates)))
	text := func(s string) {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	for i, der := range certificates {
		b = binary.BigEndian.AppendUint32(b, trustedEntry)
		text(fmt.Sprintf("authority-%d", i+1))
		b = binary.BigEndian.AppendUint64(b, uint64(now.UnixMilli()))
		text("X.509")
		b = binary.BigEndian.AppendUint32(b, uint32(len(der)))
		b = append(b, der...)
	}
	digest := sha1.New()
	for _, unit := range utf16.Encode([]rune(TrustStorePassword)) {
		digest.Write(binary.BigEndian.AppendUint16(nil, unit))
	}
	digest.Write([]byte(trustStoreSalt))
	digest.Write(b)
	return digest.Sum(b)
}
