CREATE TABLE "response_items" (
	"workspace_id" text NOT NULL,
	"item_id" text NOT NULL,
	"response_id" text NOT NULL,
	CONSTRAINT "response_items_workspace_id_item_id_response_id_pk" PRIMARY KEY("workspace_id","item_id","response_id")
);
--> statement-breakpoint
CREATE TABLE "response_parts" (
	"response_id" text NOT NULL,
	"part" text NOT NULL,
	"first" bigint NOT NULL,
	"last" bigint NOT NULL,
	"clear_bytes" bigint NOT NULL,
	"sealed" "bytea" NOT NULL,
	CONSTRAINT "response_parts_response_id_part_first_pk" PRIMARY KEY("response_id","part","first")
);
--> statement-breakpoint
CREATE TABLE "responses" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"key_hash" text NOT NULL,
	"generation_id" text NOT NULL,
	"status" text NOT NULL,
	"model" text NOT NULL,
	"previous_response_id" text,
	"background" boolean NOT NULL,
	"streamed" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "response_items" ADD CONSTRAINT "response_items_response_id_responses_id_fk" FOREIGN KEY ("response_id") REFERENCES "public"."responses"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "response_parts" ADD CONSTRAINT "response_parts_response_id_responses_id_fk" FOREIGN KEY ("response_id") REFERENCES "public"."responses"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "response_items_response" ON "response_items" USING btree ("response_id");--> statement-breakpoint
CREATE INDEX "responses_expiry" ON "responses" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "responses_status" ON "responses" USING btree ("status");