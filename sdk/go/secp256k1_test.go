package signpost

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"testing"
)

// Signatures of a simulated service: ECDSA on secp256k1 (SEC 1, section 4.1.4). It is slow and not constant-time, which
// does not matter in tests.

var (
	fieldPrime = number("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f")
	groupOrder = number("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	generator  = &point{
		number("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"),
		number("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"),
	}
)

// point is a point of the curve y² = x³ + 7; nil is the point at infinity.
type point struct{ x, y *big.Int }

func number(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 16)
	return n
}

func modulo(n *big.Int) *big.Int { return n.Mod(n, fieldPrime) }

func plus(a, b *point) *point {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	above, below := new(big.Int).Sub(b.y, a.y), new(big.Int).Sub(b.x, a.x)
	if a.x.Cmp(b.x) == 0 {
		if modulo(new(big.Int).Add(a.y, b.y)).Sign() == 0 {
			return nil
		}
		above, below = new(big.Int).Mul(big.NewInt(3), new(big.Int).Mul(a.x, a.x)), new(big.Int).Lsh(a.y, 1)
	}
	slope := modulo(above.Mul(above, new(big.Int).ModInverse(modulo(below), fieldPrime)))
	x := modulo(new(big.Int).Sub(new(big.Int).Mul(slope, slope), new(big.Int).Add(a.x, b.x)))
	y := modulo(new(big.Int).Sub(new(big.Int).Mul(slope, new(big.Int).Sub(a.x, x)), a.y))
	return &point{x, y}
}

func times(p *point, n *big.Int) *point {
	var sum *point
	for bit := n.BitLen() - 1; bit >= 0; bit-- {
		if sum = plus(sum, sum); n.Bit(bit) == 1 {
			sum = plus(sum, p)
		}
	}
	return sum
}

func parsePoint(text string) *point {
	key, err := hex.DecodeString(text)
	if err != nil || (len(key) != 33 || key[0]&0xfe != 2) && (len(key) != 65 || key[0] != 4) {
		return nil
	}
	x := new(big.Int).SetBytes(key[1:33])
	square := modulo(new(big.Int).Add(new(big.Int).Exp(x, big.NewInt(3), nil), big.NewInt(7)))
	y := new(big.Int).ModSqrt(square, fieldPrime)
	if y == nil || x.Cmp(fieldPrime) >= 0 {
		return nil
	}
	if y.Bit(0) != uint(key[len(key)-1]&1) && len(key) == 65 || len(key) == 33 && y.Bit(0) != uint(key[0]&1) {
		y.Sub(fieldPrime, y)
	}
	if len(key) == 65 && y.Cmp(new(big.Int).SetBytes(key[33:])) != 0 {
		return nil
	}
	return &point{x, y}
}

// parseDER parses r and s in their canonical DER encoding.
func parseDER(text string) (numbers []*big.Int) {
	rest, err := hex.DecodeString(text)
	if err != nil || len(rest) < 2 || rest[0] != 0x30 || rest[1] > 0x7f || int(rest[1]) != len(rest)-2 {
		return nil
	}
	for rest = rest[2:]; len(rest) >= 2; {
		length := int(rest[1])
		if rest[0] != 2 || length == 0 || length > 33 || len(rest) < 2+length || rest[2]&0x80 != 0 ||
			(length > 1 && rest[2] == 0 && rest[3]&0x80 == 0) {
			return nil
		}
		n := new(big.Int).SetBytes(rest[2 : 2+length])
		if n.Sign() == 0 || n.Cmp(groupOrder) >= 0 {
			return nil
		}
		numbers, rest = append(numbers, n), rest[2+length:]
	}
	if len(numbers) != 2 || len(rest) != 0 {
		return nil
	}
	return numbers
}

// verifySignature reports whether a signature is well-formed, and whether it verifies.
func verifySignature(publicKey, signature, message string) (code string, valid bool) {
	key, numbers := parsePoint(publicKey), parseDER(signature)
	if key == nil {
		return "invalid_public_key", false
	}
	if numbers == nil {
		return "invalid_signature", false
	}
	digest := sha256.Sum256([]byte(message))
	inverse := new(big.Int).ModInverse(numbers[1], groupOrder)
	scaled := func(n *big.Int) *big.Int { return n.Mod(n.Mul(n, inverse), groupOrder) }
	sum := plus(times(generator, scaled(new(big.Int).SetBytes(digest[:]))), times(key, scaled(new(big.Int).Set(numbers[0]))))
	return "", sum != nil && new(big.Int).Mod(sum.x, groupOrder).Cmp(numbers[0]) == 0
}

func TestSimulatedServicePassesTheSignatureVectors(t *testing.T) {
	for _, c := range signatures(t) {
		code, valid := verifySignature(c.PublicKey, c.Signature, c.Message)
		mustEqual(t, c.Name, []any{code, valid}, []any{c.code, c.Valid})
	}
}

type signatureCase struct {
	Name      string
	PublicKey string `json:"public_key"`
	Signature string
	Message   string
	Valid     bool
	code      string
}

// signatures returns all cases of signature.json and lnurl.json, with the error code of malformed signatures.
func signatures(t *testing.T) []signatureCase {
	var vectors struct {
		Verified            []signatureCase
		MalformedPublicKeys []signatureCase `json:"malformed_public_keys"`
		MalformedSignatures []signatureCase `json:"malformed_signatures"`
	}
	readVectors(t, "signature.json", &vectors)
	good, cases := vectors.Verified[0], vectors.Verified
	for _, c := range vectors.MalformedPublicKeys {
		cases = append(cases, signatureCase{Name: c.Name, PublicKey: c.PublicKey, Signature: good.Signature, Message: good.Message, code: "invalid_public_key"})
	}
	for _, c := range vectors.MalformedSignatures {
		cases = append(cases, signatureCase{Name: c.Name, PublicKey: good.PublicKey, Signature: c.Signature, Message: good.Message, code: "invalid_signature"})
	}
	var lightning struct {
		Signed []struct {
			Challenge, Signature string
			PublicKey            string `json:"public_key"`
		}
	}
	readVectors(t, "lnurl.json", &lightning)
	for _, c := range lightning.Signed {
		cases = append(cases, signatureCase{Name: "lnurl " + c.Challenge, PublicKey: c.PublicKey, Signature: c.Signature, Message: c.Challenge, Valid: true})
	}
	return cases
}
