package signpost

import (
	"context"
	"sync"
	"time"
)

// Code is the stored state of a code that a browser was shown.
type Code struct {
	SID, Challenge, Mode, Next string
	ExpiresAt                  time.Time
	// Browser is the SHA-256, in hex, of the value of this browser's cookie.
	Browser string
	// User and Session are set once a wallet has answered.
	User    string
	Session *Session
}

// Codes stores codes. Entries may be deleted after an hour.
type Codes interface {
	// Save stores a code, not completed, and replaces any code with its SID.
	Save(ctx context.Context, code Code) error
	// Find returns the code with this SID, or with this challenge as its newest; nil if there is none.
	Find(ctx context.Context, sidOrChallenge string) (*Code, error)
	// Complete returns true for the first call with a SID only, even if calls race.
	Complete(ctx context.Context, sid string) (first bool, err error)
}

// ShownCode is a code for your page.
type ShownCode struct {
	SID, QRData string
	ExpiresAt   time.Time
}

// codeMemory stores the last codes in memory.
type codeMemory struct {
	mutex     sync.Mutex
	bySID     map[string]*Code
	completed map[string]bool
	order     []string
}

func (m *codeMemory) Save(_ context.Context, code Code) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if old := m.bySID[code.SID]; old != nil {
		delete(m.bySID, old.Challenge)
	} else {
		m.order = append(m.order, code.SID)
	}
	m.bySID[code.SID], m.bySID[code.Challenge] = &code, &code
	delete(m.completed, code.SID)
	if len(m.order) > maxRemember {
		oldest := m.order[0]
		delete(m.bySID, m.bySID[oldest].Challenge)
		delete(m.bySID, oldest)
		delete(m.completed, oldest)
		m.order = m.order[1:]
	}
	return nil
}

func (m *codeMemory) Find(_ context.Context, sidOrChallenge string) (*Code, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found := m.bySID[sidOrChallenge]
	if found == nil {
		return nil, nil
	}
	copied := *found
	return &copied, nil
}

func (m *codeMemory) Complete(_ context.Context, sid string) (bool, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	first := !m.completed[sid]
	m.completed[sid] = true
	return first, nil
}
