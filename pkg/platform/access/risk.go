package access

import "time"

// Risk is a reason why a token is dangerous if it leaks. Its value is stable: it is part of the API of programs.
type Risk string

// The risks, from the highest.
const (
	RiskAdminNeverExpires Risk = "admin-never-expires"
	RiskAdminNeverUsed    Risk = "admin-never-used"
	RiskAdminUnused       Risk = "admin-unused"
	RiskLongLived         Risk = "long-lived"
)

const (
	// UnusedDays is the number of days without use after which an Admin's token is a risk. For one that was never
	// used, they begin with its creation.
	UnusedDays = 30
	// LongLivedDays is the number of days up to the expiry above which a token is a risk.
	LongLivedDays = 365
)

// String returns the risk as people read it.
func (r Risk) String() string {
	switch r {
	case RiskAdminNeverExpires:
		return "Admin, never expires"
	case RiskAdminNeverUsed:
		return "Admin, never used"
	case RiskAdminUnused:
		return "Admin, not used for 30 days"
	case RiskLongLived:
		return "expires in more than a year"
	}
	return string(r)
}

// TokenUse is what the risks of a token depend on.
type TokenUse struct {
	Role      Role // of its owner; an API token has RoleAdmin
	Disabled  bool // its owner is disabled or does not exist, so the token is rejected
	CreatedAt time.Time
	ExpiresAt *time.Time // nil: never
	SeenAt    *time.Time // when it was last used; nil: never
}

// Risks returns the risks of a token at now, from the highest. A token that is rejected has none.
func (t TokenUse) Risks(now time.Time) []Risk {
	risks := []Risk{}
	if t.Disabled || t.ExpiresAt != nil && !now.Before(*t.ExpiresAt) {
		return risks
	}
	admin := t.Role == RoleAdmin
	if admin && t.ExpiresAt == nil {
		risks = append(risks, RiskAdminNeverExpires)
	}
	since, unused := t.CreatedAt, RiskAdminNeverUsed
	if t.SeenAt != nil {
		since, unused = *t.SeenAt, RiskAdminUnused
	}
	if admin && !now.Before(since.AddDate(0, 0, UnusedDays)) {
		risks = append(risks, unused)
	}
	if t.ExpiresAt != nil && t.ExpiresAt.After(now.AddDate(0, 0, LongLivedDays)) {
		risks = append(risks, RiskLongLived)
	}
	return risks
}

// CompareRisks compares the risks of two tokens: it returns a negative number if those of a are higher, and a positive
// one if those of b are. It orders tokens by their highest risk, and then by the next one.
func CompareRisks(a, b []Risk) int { return severity(b) - severity(a) }

func severity(risks []Risk) (sum int) {
	weights := map[Risk]int{RiskAdminNeverExpires: 8, RiskAdminNeverUsed: 4, RiskAdminUnused: 2, RiskLongLived: 1}
	for _, r := range risks {
		sum += weights[r]
	}
	return sum
}
