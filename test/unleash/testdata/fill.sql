-- 200 context fields and 2,000 toggles, in the form in which the API of Unleash stores them. Users of the admin token are user -42.
INSERT INTO projects (id, name) VALUES ('shop', 'Shop');
INSERT INTO project_environments (project_id, environment_name) VALUES ('shop', 'development'), ('shop', 'production');

INSERT INTO context_fields (name, description, stickiness, sort_order, legal_values)
SELECT to_char(n, '"field."FM000"~x"'), format('Field %s <é>', n), n % 2 = 0, n + 5,
    '[{"value": "a b", "description": "first"}, {"value": "ü"}]'
FROM generate_series(0, 199) n;

CREATE TEMPORARY TABLE toggles AS
SELECT n, (ARRAY['default', 'shop'])[n / 2 % 2 + 1] AS project, CASE n
    WHEN 100 THEN '...'
    WHEN 101 THEN '~tilde_and-dash.dot'
    WHEN 102 THEN repeat('x', 100)
    WHEN 103 THEN 'TOGGLE-0001' -- differs from another one only by letter case
    WHEN 104 THEN '0'
    ELSE to_char(n, '"toggle-"FM0000') END AS name
FROM generate_series(0, 1999) n;

-- Three toggles each have the same time. Some descriptions are too long for this service.
INSERT INTO features (name, project, type, impression_data, stale, created_by_user_id, created_at, description, archived_at)
SELECT name, project, (ARRAY['release', 'experiment', 'operational', 'sunset'])[n % 4 + 1], n % 3 = 0, n % 11 = 0, -42,
    timestamptz '2020-01-01 05:39:00.123Z' + n / 3 * interval '1 day',
    CASE WHEN n % 7 = 0 THEN repeat('long é', 1 + n % 300) END,
    CASE WHEN n % 9 = 0 AND n > 2 THEN timestamptz '2026-11-01 00:00:00Z' END
FROM toggles;

INSERT INTO feature_environments (feature_name, environment, enabled)
SELECT name, environment, false FROM toggles, unnest(ARRAY['development', 'production']) environment;

-- Every fifth toggle uses two fields of this file, userId, and one that does not exist.
INSERT INTO feature_strategies (id, feature_name, project_name, environment, strategy_name, parameters, constraints, sort_order)
SELECT environment || n, name, project, environment, 'flexibleRollout',
    jsonb_build_object('rollout', '50', 'groupId', name, 'stickiness', stickiness),
    (SELECT jsonb_agg(jsonb_build_object('contextName', field, 'operator', 'IN', 'values', ARRAY['a b'])) FROM unnest(fields) field), 0
FROM toggles, LATERAL (VALUES
    ('development', 'default', ARRAY[to_char(n % 200, '"field."FM000"~x"')]),
    ('production', to_char((n + 1) % 200, '"field."FM000"~x"'), ARRAY['userId', 'gone-' || n % 2])
) strategy (environment, stickiness, fields)
WHERE n % 5 = 0;

-- Toggles that cannot be imported. Old versions allowed the first two names.
INSERT INTO features (name, project, type) VALUES
    ('a name/of an old version', 'default', 'release'), ('..', 'shop', 'release'), ('of-no-type', 'default', 'gone'),
    ('revive', 'default', 'release');
