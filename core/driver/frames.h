/*
 * Frames between the launcher and a driver's process: JSON objects over a stream socket, each after
 * its length (four bytes, the highest first). Neither side trusts the other: a frame that is too
 * long, or no object, ends the connection.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

typedef struct _DroverFrames DroverFrames;

typedef struct {
    /* A frame, valid during the call. FALSE: it makes no sense, the connection ends. */
    gboolean (*received)(const json_t *frame, gpointer user_data);
    /* The connection has ended; may free the frames. Only called by the main context. */
    void (*ended)(gpointer user_data);
} DroverFramesHooks;

/*
 * Takes the socket over. `most` is the longest frame that is taken, in bytes. One that is patient
 * waits until the other side takes what is sent, and may be used for sending by any thread; the
 * other kind keeps it. Received on the loop of `context`.
 */
DroverFrames *drover_frames_new(int fd, gsize most, gboolean patient, GMainContext *context,
                                const DroverFramesHooks *hooks, gpointer user_data);
void drover_frames_free(DroverFrames *frames);

/* Takes the frame over. What cannot be sent any more is dropped: the end will be seen. */
void drover_frames_send(DroverFrames *frames, json_t *frame);
/*
 * Waits so long for news, in milliseconds, and handles what has come, without a main context. FALSE
 * when the connection has ended.
 */
gboolean drover_frames_pump(DroverFrames *frames, int milliseconds);
