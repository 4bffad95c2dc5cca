// Written by make console, from pkg/eventlog/types.go.

/** The types of events and their labels, by what they are about. */
export const types = {
  'Toggles': {
    'feature-created': 'Toggle created',
    'feature-updated': 'Toggle updated',
    'feature-archived': 'Toggle archived',
    'feature-revived': 'Toggle revived',
    'feature-deleted': 'Toggle deleted',
    'feature-stale-on': 'Toggle marked as stale',
    'feature-stale-off': 'Toggle no longer marked as stale',
    'feature-environment-enabled': 'Toggle turned on',
    'feature-environment-disabled': 'Toggle turned off',
    'feature-strategy-add': 'Strategy added',
    'feature-strategy-update': 'Strategy updated',
    'feature-strategy-remove': 'Strategy removed',
    'strategy-order-changed': 'Order of strategies changed',
    'feature-dependency-added': 'Dependency added',
    'feature-dependency-removed': 'Dependency removed',
    'feature-potentially-stale-on': 'Toggle became potentially stale',
    'feature-potentially-stale-off': 'Toggle is no longer potentially stale',
  },
  'Toggle types': {
    'feature-type-created': 'Toggle type created',
    'feature-type-updated': 'Toggle type updated',
  },
  'Context fields': {
    'context-field-created': 'Context field created',
    'context-field-updated': 'Context field updated',
    'context-field-deleted': 'Context field deleted',
  },
  'Environments': {
    'environment-created': 'Environment created',
    'environment-updated': 'Environment updated',
    'environment-deleted': 'Environment deleted',
  },
  'Segments': {
    'segment-created': 'Segment created',
    'segment-updated': 'Segment updated',
    'segment-deleted': 'Segment deleted',
  },
  'Tokens': {
    'pat-created': 'Token created',
    'pat-deleted': 'Token deleted',
    'service-account-token-created': 'Service account token created',
    'service-account-token-deleted': 'Service account token deleted',
    'api-token-created': 'API token created',
    'api-token-updated': 'API token updated',
    'api-token-deleted': 'API token deleted',
    'token-expiring': 'Token is about to expire',
  },
  'Accounts': {
    'service-account-created': 'Service account created',
    'service-account-updated': 'Service account updated',
    'service-account-deleted': 'Service account deleted',
    'user-created': 'User created',
    'user-updated': 'User updated',
    'user-deleted': 'User deleted',
    'user-name-removed': 'Name of a user removed',
  },
  'Installation': {
    'installation-initialized': 'Installation initialized',
  },
};
