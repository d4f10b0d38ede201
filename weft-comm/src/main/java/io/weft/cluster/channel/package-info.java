// SPDX-License-Identifier: Apache-2.0
/// Requests between ranks and their replies (docs/protocol/channel.md). Requests are numbered and
/// ordered for each pair of ranks. Short payloads are sent in messages, long ones by remote reads
/// and writes. Requests have deadlines and back-pressure. Layers above the mesh that need more than
/// named tensors are built on this package.
///
/// ```java
/// int kind = RequestChannel.FIRST_FREE_KIND;
/// weft.channel().serve(kind, request -> request.reply(request.head())); // on every rank
/// MemorySegment head = MemorySegment.ofArray(new byte[] {7});
/// var request = Request.of(kind, head, MemorySegment.NULL, Duration.ofSeconds(5));
/// var length = new CompletableFuture<Long>();
/// boolean taken =
///     weft.channel()
///         .tryRequest(
///             1,
///             request,
///             outcome -> {
///               switch (outcome) {
///                 case RequestOutcome.Replied(var body, long written) ->
///                     length.complete(body.byteSize());
///                 case RequestOutcome.Failed(CommException cause) ->
///                     length.completeExceptionally(cause);
///               }
///             });
/// ```
@NullMarked
package io.weft.cluster.channel;

import org.jspecify.annotations.NullMarked;
