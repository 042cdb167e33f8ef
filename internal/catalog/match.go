package catalog

import (
	"slices"
	"strconv"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// lookup finds the value of a label.
type lookup func(key string) (value string, found bool)

// matches tells whether labels satisfy a requirement. NotIn is satisfied by a
// label that is not there, as a node selector's is; a comparison needs a whole
// number on both sides.
func matches(r *cluster.Requirement, labels lookup) bool {
	value, found := labels(cluster.NormalLabel(r.Key))
	switch r.Operator {
	case cluster.In:
		return found && slices.Contains(r.Values, value)
	case cluster.NotIn:
		return !found || !slices.Contains(r.Values, value)
	case cluster.Exists:
		return found
	case cluster.DoesNotExist:
		return !found
	}
	if !found || len(r.Values) != 1 {
		return false
	}
	have, err1 := strconv.ParseInt(value, 10, 64)
	want, err2 := strconv.ParseInt(r.Values[0], 10, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	switch r.Operator {
	case cluster.Gt:
		return have > want
	case cluster.Lt:
		return have < want
	case cluster.Gte:
		return have >= want
	case cluster.Lte:
		return have <= want
	}
	return false
}

// offeringLabel gives the labels that a node has from its offering; mine is false
// for a key that offerings do not decide.
func offeringLabel(o *cluster.Offering, key string) (value string, found, mine bool) {
	switch key {
	case cluster.LabelZone:
		value = o.Zone
	case cluster.LabelZoneID:
		value = o.ZoneID
	case cluster.LabelCapacityType:
		value = o.CapacityType
	case cluster.LabelReservationID:
		value = o.ReservationID
	case cluster.LabelReservationType:
		value = o.ReservationType
	case labelReservationInterruptible:
		if o.CapacityType == cluster.Reserved {
			value = strconv.FormatBool(o.ReservationInterruptible)
		}
	default:
		return "", false, false
	}
	return value, value != "", true
}
