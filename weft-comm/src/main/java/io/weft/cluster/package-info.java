// SPDX-License-Identifier: Apache-2.0
/// Who is in the job: environment, the job's store, topology and process sets. User threads.
@NullMarked
package io.weft.cluster;

import org.jspecify.annotations.NullMarked;
