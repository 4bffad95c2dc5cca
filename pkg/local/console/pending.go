package console

// maxPending bounds the requests for which records are held: those that are being answered at the same time. What is more is written
// without waiting.
const maxPending = 1024

// pending holds records by request until the request's line is written. The zero value is ready. It is not safe for concurrent use.
type pending struct {
	texts map[string][][]byte
	order []string // of the ids, oldest first
}

// hold keeps a text; it gives back what has waited longest when there is too much.
func (p *pending) hold(id string, text []byte) (evicted [][]byte) {
	if p.texts == nil {
		p.texts = map[string][][]byte{}
	}
	if _, known := p.texts[id]; !known {
		if len(p.order) == maxPending {
			evicted = p.take(p.order[0])
		}
		p.order = append(p.order, id)
	}
	p.texts[id] = append(p.texts[id], text)
	return evicted
}

// take gives the texts of a request, and forgets them.
func (p *pending) take(id string) [][]byte {
	texts, known := p.texts[id]
	if !known {
		return nil
	}
	delete(p.texts, id)
	for i, other := range p.order {
		if other == id {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
	return texts
}

func (p *pending) takeAll() (all [][]byte) {
	for len(p.order) > 0 {
		all = append(all, p.take(p.order[0])...)
	}
	return all
}
