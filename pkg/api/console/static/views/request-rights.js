// What the user may do with a change request, as far as the console knows. The API decides.

import { changesOf } from '../change-request.js';

/** What the direct operation of each change needs. */
const direct = {
  updateEnabled: 'UPDATE_FEATURE_ENVIRONMENT',
  addStrategy: 'CREATE_FEATURE_STRATEGY',
  updateStrategy: 'UPDATE_FEATURE_STRATEGY',
  deleteStrategy: 'DELETE_FEATURE_STRATEGY',
  reorderStrategy: 'UPDATE_FEATURE_STRATEGY',
  archiveFeature: 'DELETE_FEATURE',
  addDependency: 'UPDATE_FEATURE_DEPENDENCY',
  deleteDependency: 'UPDATE_FEATURE_DEPENDENCY',
  updateSegment: 'UPDATE_SEGMENT',
  deleteSegment: 'DELETE_SEGMENT',
};

/**
 * @param {Object} request with its changes
 * @param {{user: ?{id: number}, may: (permission: string, project?: string, environment?: string) => boolean}} context of the page
 * @returns {{isAuthor: boolean, approves: boolean, rejects: boolean, applies: boolean, isComplete: boolean}} `isAuthor` includes Admins, who may
 *   do the same; `approves`: the user may approve it and has not yet; `isComplete`: it has as many approvals as it needs
 */
export function requestRights(request, { user, may }) {
  const { project, environment, environments = [], approvals, createdBy } = request;
  const changes = changesOf(request);
  const isOwn = user !== null && [createdBy, ...changes.map((change) => change.createdBy)].some(({ id }) => id === user.id);
  const places = environments.length > 0 ? environments : [{ project, environment, requiredApprovals: 0 }];
  const rejects = user !== null && !isOwn && places.some((place) => may('APPROVE_CHANGE_REQUEST', place.project, place.environment));
  const valid = approvals.filter(({ struckOut }) => !struckOut);
  return {
    isAuthor: isOwn || may('ADMIN'),
    approves: rejects && !valid.some((vote) => vote.createdBy.id === user.id),
    rejects,
    applies: environments.length > 0 ? may('APPLY_CHANGE_REQUEST', project, environment) : changes.every(({ action }) => may(direct[action], project, environment)),
    isComplete: places.every(({ requiredApprovals }) => valid.length >= requiredApprovals),
  };
}
