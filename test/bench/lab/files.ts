// SPDX-License-Identifier: Apache-2.0
// Files on the lab's hosts; the source and the key for ssh are on h1 only.
export const SOURCE = '/dev/shm/source';
export const SSH_KEY = '/dev/shm/ssh-key';
export const TARGET = '/dev/shm/target';
export const HOP_KEY = '/dev/shm/hop-key';
