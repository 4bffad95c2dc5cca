package samtemplate

// withGlobals merges a resource's properties over the Globals of its kind, as SAM does: maps key by key, lists one after the other
// (the global one first), everything else taken from the resource. An intrinsic function counts as one value.
func withGlobals(global, own *node) *node {
	if global == nil {
		return own
	}
	if own == nil {
		return global
	}
	if global.kind != own.kind || global.fn || own.fn {
		return own
	}
	switch own.kind {
	case list:
		merged := *own
		merged.items = append(append([]*node{}, global.items...), own.items...)
		return &merged
	case dict:
		merged := *own
		merged.keys, merged.fields = nil, make(map[string]*node, len(global.keys)+len(own.keys))
		for _, key := range global.keys {
			merged.keys = append(merged.keys, key)
			merged.fields[key] = withGlobals(global.fields[key], own.fields[key])
		}
		for _, key := range own.keys {
			if _, ok := merged.fields[key]; !ok {
				merged.keys = append(merged.keys, key)
				merged.fields[key] = own.fields[key]
			}
		}
		return &merged
	case scalar, absent:
	}
	return own
}
