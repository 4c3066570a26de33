CREATE TABLE "export_cursors" (
	"destination_id" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"sent" bigint DEFAULT 0 NOT NULL,
	"failed" bigint DEFAULT 0 NOT NULL,
	"dropped" jsonb,
	"last_success_at" timestamp (3) with time zone,
	"last_error_at" timestamp (3) with time zone,
	"last_error" text,
	"paused_at" timestamp (3) with time zone,
	"replay" jsonb
);
--> statement-breakpoint
CREATE TABLE "export_failed" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"destination_id" text NOT NULL,
	"generation_id" text NOT NULL,
	"failed_at" timestamp (3) with time zone NOT NULL,
	"status" bigint,
	"message" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "export_failed_destination" ON "export_failed" USING btree ("destination_id","id");