// A token and a ticket in the few lines that a backend needs, with what Go's standard library has: docs/wire.md,
// "Tokens", and the documentation of porous-token. Prints those of the examples, as in sealed.txt.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

const label = "porous token"

type claims struct {
	application, client, created, expires, audience uint64
	userData                                        []byte
}

func mac(key []byte, parts ...[]byte) []byte {
	hash := hmac.New(sha256.New, key)
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

func u64(to []byte, number uint64) []byte {
	return binary.LittleEndian.AppendUint64(to, number)
}

// A token of version 2, of one use, for one server, and the psk that belongs to it.
func mint(key []byte, number byte, say claims, random []byte) (token, psk []byte, err error) {
	head := append(u64([]byte{2, number}, say.expires), random...)
	// HKDF without info is these three, RFC 5869.
	extracted := mac(key, []byte(label), head)
	sealing := mac(extracted, []byte{1})
	psk = mac(extracted, sealing, []byte{2})

	body := u64(u64(nil, say.client), say.created)
	body = append(body, 1, 1) // single use; one audience
	body = append(u64(body, say.audience), byte(len(say.userData)))
	body = append(body, say.userData...)
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return nil, nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, nil, err
	}
	associated := append(u64([]byte(label), say.application), head...)
	return gcm.Seal(head, make([]byte, 12), body, associated), psk, nil
}

// What the game gets, as base64: a token, its psk, and one server at an address of IPv4.
func ticket(token, psk, serverKey []byte, ip [4]byte, port uint16) []byte {
	bytes := append([]byte{1}, psk...)
	bytes = append(append(bytes, byte(len(serverKey))), serverKey...)
	bytes = append(append(bytes, 1, 4), ip[:]...)
	bytes = binary.LittleEndian.AppendUint16(bytes, port)
	return append(bytes, token...)
}

func counting(first byte, length int) []byte {
	bytes := make([]byte, length)
	for i := range bytes {
		bytes[i] = first + byte(i)
	}
	return bytes
}

func main() {
	key := counting(0, 32) // shared with the game servers
	serverKey, err := hex.DecodeString("a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209")
	if err != nil {
		panic(err)
	}
	random := counting(0x40, 24) // of a backend: by crypto/rand
	token, psk, err := mint(key, 7, claims{
		application: 0x0123456789abcdef,
		client:      42,
		created:     1800000000,
		expires:     1800000030,
		audience:    0x51,
		userData:    []byte("ana"),
	}, random)
	if err != nil {
		panic(err)
	}
	fmt.Printf("token of version 2 = %x\n", token)
	fmt.Printf("psk of version 2 = %x\n", psk)
	fmt.Printf("ticket = %x\n", ticket(token, psk, serverKey, [4]byte{192, 0, 2, 1}, 7777))
}
