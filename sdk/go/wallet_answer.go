package signpost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"
)

// refusal is a response to a wallet other than 200.
type refusal struct {
	status  int
	message string
	reason  string
	// How long to wait, for 429.
	wait time.Duration
}

func (r *refusal) Error() string { return r.message }

func (h *WalletHandler) answer(w http.ResponseWriter, r *http.Request, mode string) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	// If a domain has no event URL, its events are posted here. An unsigned event is rejected.
	if h.isEvent(r.Header, body) {
		if len(h.webhookSecrets()) == 0 {
			writeError(w, http.StatusUnauthorized, "no events are expected here")
			return
		}
		h.receive(w, r, body)
		return
	}
	err := h.accept(r.Context(), mode, body)
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		body := map[string]any{"error": refused.message}
		if refused.reason != "" {
			body["details"] = map[string]any{"reason": refused.reason}
		}
		if refused.wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refused.wait.Seconds()))))
		}
		writeJSON(w, refused.status, body)
		return
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	done := map[string]string{ModeLogin: StatusAuthenticated, ModeRegister: "registered"}[mode]
	writeJSON(w, http.StatusOK, map[string]any{"status": done, "message": done + " with " + h.domain})
}

func (h *WalletHandler) fail(w http.ResponseWriter, r *http.Request, err error) {
	h.report(r.Context(), err, StepWallet)
	writeError(w, http.StatusInternalServerError, "something went wrong on this server: try again")
}

func (h *WalletHandler) isEvent(header http.Header, body []byte) bool {
	_, signed := headerValue(header, "X-Svc-Signature")
	_, standard := headerValue(header, "webhook-signature")
	// A map, because a struct would also accept a member "Event".
	var members map[string]json.RawMessage
	isNamed := json.Unmarshal(body, &members) == nil && !isNull(members["event"])
	return signed || standard || isNamed
}

// accept checks a wallet's answer, in the specification's order.
func (h *WalletHandler) accept(ctx context.Context, mode string, body []byte) error {
	answer, err := parseAnswer(body)
	if err != nil {
		return &refusal{status: http.StatusBadRequest, message: err.Error()}
	}
	if now := h.now().Unix(); answer.Timestamp < now-clockTolerance || answer.Timestamp > now+clockTolerance {
		return &refusal{status: http.StatusRequestTimeout, message: "the timestamp is more than 30 seconds from this server's time: set the device's clock, and sign again"}
	}
	code, err := h.findChallenge(ctx, mode, answer.Challenge)
	if err != nil {
		return err
	}
	key, ok := canonicalKey(answer.PublicKey)
	if !ok {
		return &refusal{status: http.StatusNotAcceptable, message: "the public key is not a secp256k1 key in hex"}
	}
	user, err := h.findUser(ctx, key)
	if err != nil {
		return err
	}
	if (mode == ModeLogin) == (user == "") {
		return h.refuseUser(ctx, mode, answer)
	}
	session, err := h.authenticate(ctx, code.SID, answer)
	if err != nil {
		return err
	}
	if mode == ModeRegister {
		device := Device{}
		if answer.DeviceInfo != nil {
			device = *answer.DeviceInfo
		}
		user, err = h.createUser(ctx, key, device)
		if errors.Is(err, ErrUserExists) {
			return &refusal{status: http.StatusConflict, message: "a user with this public key exists: log in instead"}
		}
		if err == nil && user == "" {
			err = errors.New("CreateUser returned no user")
		}
		if err != nil {
			return err
		}
	}
	code.User, code.Session = user, session
	return h.codes.Save(ctx, *code)
}

var sentence = regexp.MustCompile(`^Sign this to (login|register) to ([^ :]+) at ([0-9]+:[A-Za-z0-9_-]{22})$`)

// findChallenge returns the pending code for this text, in either of its two forms.
func (h *WalletHandler) findChallenge(ctx context.Context, mode, text string) (*Code, error) {
	notHeld := &refusal{status: http.StatusNotFound, message: "no session waits for an answer to this challenge: scan the code again"}
	if parts := sentence.FindStringSubmatch(text); parts != nil {
		text = "svc:" + parts[1] + ":" + parts[2] + ":" + parts[3]
	}
	code, err := h.codes.Find(ctx, text)
	if err != nil {
		return nil, err
	}
	if code == nil || code.Challenge != text || code.Mode != mode || code.User != "" || !h.now().Before(code.ExpiresAt) {
		return nil, notHeld
	}
	return code, nil
}

// refuseUser returns the error for a missing or an existing user, or for a wrong signature, which is checked first.
func (h *WalletHandler) refuseUser(ctx context.Context, mode string, answer *Answer) error {
	body := VerifyParams{PublicKey: answer.PublicKey, Signature: answer.Signature, Message: answer.Challenge}
	checked, err := fetch[Verification](ctx, h.client, call{method: http.MethodPost, path: "/verify", body: body, once: true})
	switch failure := (*Error)(nil); {
	case errors.As(err, &failure) && (failure.Code == "invalid_signature" || failure.Code == "invalid_public_key"):
		return &refusal{status: http.StatusNotAcceptable, message: failure.Message}
	case err != nil:
		return asRefusal(err)
	case !checked.Valid:
		return &refusal{status: http.StatusNotAcceptable, message: "the signature was not made by this key over this challenge"}
	case mode == ModeLogin:
		return &refusal{status: http.StatusNotFound, message: "no user has this public key: register first"}
	}
	return &refusal{status: http.StatusConflict, message: "a user with this public key exists: log in instead"}
}

// authenticate forwards the answer to the service. If answers race, only the first is accepted.
func (h *WalletHandler) authenticate(ctx context.Context, sid string, answer *Answer) (*Session, error) {
	k := call{method: http.MethodPost, body: answer, once: true}
	session, err := to[Session](ctx, h.client, k, "/sessions/{}/authenticate", sid)
	if err != nil {
		return nil, asRefusal(err)
	}
	if session.ID != sid || session.Status != StatusAuthenticated {
		return nil, errors.New("the service did not authenticate the session")
	}
	return session, nil
}

func asRefusal(err error) error {
	var failure *Error
	if !errors.As(err, &failure) || failure.Code == "invalid_response" {
		return err
	}
	switch failure.Status {
	case http.StatusNotFound, http.StatusConflict, http.StatusGone:
		return &refusal{status: http.StatusNotFound, message: "no session waits for an answer to this challenge: scan the code again"}
	case http.StatusNotAcceptable, http.StatusRequestTimeout:
		return &refusal{status: failure.Status, message: failure.Message, reason: failure.reason()}
	case http.StatusTooManyRequests:
		return &refusal{status: failure.Status, message: failure.Message, wait: cmp.Or(failure.RetryAfter, time.Second)}
	}
	return err
}

func parseAnswer(body []byte) (*Answer, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(body) || json.Unmarshal(body, &members) != nil || members == nil {
		return nil, errors.New("the body is not a JSON object with public_key, signature, challenge and timestamp")
	}
	answer := &Answer{}
	for name, to := range map[string]*string{"public_key": &answer.PublicKey, "signature": &answer.Signature, "challenge": &answer.Challenge} {
		if !readText(members[name], to) {
			return nil, errors.New("the field " + name + " is missing, or is no string")
		}
	}
	timestamp, err := strconv.ParseInt(string(members["timestamp"]), 10, 64)
	if err != nil {
		return nil, errors.New("the field timestamp is missing, or is no integer of Unix seconds")
	}
	answer.Timestamp = timestamp
	if code := members["confirm_code"]; !isNull(code) && !readText(code, &answer.ConfirmCode) {
		return nil, errors.New("the field confirm_code must be a string")
	}
	if info := members["device_info"]; !isNull(info) {
		answer.DeviceInfo = &Device{}
		return answer, parseDevice(info, answer.DeviceInfo)
	}
	return answer, nil
}

func parseDevice(info json.RawMessage, device *Device) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(info, &members) != nil {
		return errors.New("the field device_info must be an object")
	}
	for _, field := range []struct {
		name  string
		to    *string
		bound int
	}{{"platform", &device.Platform, 32}, {"version", &device.Version, 64}, {"device_id", &device.DeviceID, 128}} {
		if text := members[field.name]; !isNull(text) && (!readText(text, field.to) || utf8.RuneCountInString(*field.to) > field.bound) {
			return errors.New("the field device_info." + field.name + " must be a string of at most " + strconv.Itoa(field.bound) + " characters")
		}
	}
	return nil
}

func isNull(text json.RawMessage) bool { return text == nil || string(text) == "null" }

func readText(text json.RawMessage, to *string) bool {
	return len(text) > 0 && text[0] == '"' && json.Unmarshal(text, to) == nil
}

// canonicalKey normalizes a key of 33 or 65 bytes: compressed, in lower-case hex.
func canonicalKey(text string) (string, bool) {
	key, err := hex.DecodeString(text)
	switch {
	case err != nil:
		return "", false
	case len(key) == 33 && (key[0] == 2 || key[0] == 3):
		return hex.EncodeToString(key), true
	case len(key) == 65 && key[0] == 4:
		key[0] = 2 + key[64]&1
		return hex.EncodeToString(key[:33]), true
	}
	return "", false
}

func hashText(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}
